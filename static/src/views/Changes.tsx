// What this checkpoint changed against its parent.

import type { Change } from '../wire'
import { brief } from '../values'

const SIGNS = { add: '+', remove: '−', replace: '~' }

export function Changes({ changes, parent }: { changes: Change[]; parent: string | null }) {
  if (changes.length === 0) return <p class="empty">{parent ? 'No change against its parent.' : 'The first checkpoint of this line.'}</p>
  return (
    <ul class="changes">
      {changes.map(change => (
        <li key={change.path.join('.')} class={change.op}>
          <span class="sign">{SIGNS[change.op]}</span>
          <code>{change.path.join('.')}</code>
          {change.op !== 'add' && <del>{brief(change.before, 300)}</del>}
          {change.op !== 'remove' && <ins>{brief(change.after, 300)}</ins>}
        </li>
      ))}
    </ul>
  )
}
