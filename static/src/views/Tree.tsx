// A value as a tree: types named, parts opened on demand, text as text.

import { useState } from 'preact/hooks'
import { brief, isTagged, partsOf, typeOf } from '../values'

const FIRST = 100

export function Tree({ name, value, depth = 0 }: { name: string; value: unknown; depth?: number }) {
  const parts = partsOf(value)
  const [open, setOpen] = useState(depth < 1 && parts.length <= 20)
  const [limit, setLimit] = useState(FIRST)
  const long = parts.length === 0 && typeof value === 'string' && value.length > 100
  const can = parts.length > 0 || long
  return (
    <div class="tree">
      <div class="leaf">
        {can
          ? <button class="twist" aria-expanded={open} aria-label={`${open ? 'Close' : 'Open'} ${name}`} onClick={() => setOpen(!open)}>{open ? '▾' : '▸'}</button>
          : <span class="twist" />}
        <span class="key">{name}</span>
        <span class="type">{typeOf(value)}</span>
        {!(open && can) && <span class={`val ${valueClass(value)}`}>{brief(value)}</span>}
      </div>
      {open && long && <pre class="text">{value as string}</pre>}
      {open && parts.length > 0 && (
        <div class="inside">
          {parts.slice(0, limit).map(([key, part]) => <Tree key={key} name={key} value={part} depth={depth + 1} />)}
          {parts.length > limit && <button class="quiet" onClick={() => setLimit(limit + 500)}>{parts.length - limit} more …</button>}
        </div>
      )}
    </div>
  )
}

function valueClass(value: unknown): string {
  return value === null ? 'none' : isTagged(value) ? 'tagged' : typeof value
}
