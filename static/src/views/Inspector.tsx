// Everything about the shown checkpoint, and what can be done from it.

import { go } from '../focus'
import { readState } from '../store'
import { type Tab, TABS } from '../store/state'
import type { CheckpointView } from '../wire'
import { pretty } from '../values'
import { ActionBar } from './ActionBar'
import { AnswerPanel } from './AnswerPanel'
import { Chat } from './Chat'
import { copyText } from './clipboard'
import { EditPanel } from './EditPanel'
import { Tasks } from './Tasks'
import { Tree } from './Tree'
import { Changes } from './Changes'

const TITLES: Record<Tab, string> = { state: 'State', changes: 'Changes', tasks: 'Tasks', metadata: 'Metadata', config: 'Config' }

export function Inspector() {
  const state = readState()
  const view = state.view
  return (
    <section class="pane inspector" aria-label="Inspector">
      <ActionBar />
      {!view && <p class="empty">{state.focus.thread ? 'Run the graph, then look at any of its checkpoints here.' : 'No thread is chosen.'}</p>}
      {view && state.panel === 'edit' && <EditPanel key={view.checkpoint_id} view={view} />}
      {view && state.panel !== 'edit' && (
        <>
          <Headline view={view} />
          {view.warnings.map(text => <p key={text} class="notice warn">{text}</p>)}
          {view.interrupts.length > 0 && <AnswerPanel key={view.checkpoint_id} view={view} />}
          <nav class="tabs" role="tablist">
            {TABS.map(tab => (
              <button key={tab} role="tab" aria-selected={state.focus.tab === tab} data-testid={`tab-${tab}`} onClick={() => go({ tab })}>
                {TITLES[tab]}{tab === 'changes' ? ` ${view.changes.length}` : tab === 'tasks' ? ` ${view.tasks.length}` : ''}
              </button>
            ))}
          </nav>
          <div class="tab-body" role="tabpanel"><Body view={view} tab={state.focus.tab} /></div>
        </>
      )}
    </section>
  )
}

function Headline({ view }: { view: CheckpointView }) {
  return (
    <p class="headline">
      <b>Step {view.step}</b> <span class={`badge ${view.source}`}>{view.source}</span>{' '}
      {view.next.length > 0 ? <>next: <b>{view.next.join(', ')}</b></> : <b>finished</b>}
      {view.ns && <span class="dim"> in {view.ns.split('|').map(part => part.split(':')[0]).join(' > ')}</span>}
    </p>
  )
}

function Body({ view, tab }: { view: CheckpointView; tab: Tab }) {
  switch (tab) {
    case 'state': return <StateTab view={view} />
    case 'changes': return <Changes changes={view.changes} parent={view.parent_id} />
    case 'tasks': return <Tasks view={view} />
    case 'metadata': return <Tree name="metadata" value={view.metadata} />
    case 'config': return (
      <>
        <button data-testid="copy-config" onClick={() => void copyText(pretty(view.config), 'Config')}>Copy config</button>
        <pre class="text">{pretty(view.config)}</pre>
      </>
    )
  }
}

function StateTab({ view }: { view: CheckpointView }) {
  const chats = new Set(view.message_channels)
  const keys = Object.keys(view.values)
  if (keys.length === 0) return <p class="empty">The state is empty here.</p>
  return (
    <div data-testid="value-tree">
      {keys.filter(key => !chats.has(key)).map(key => <Tree key={key} name={key} value={view.values[key]} />)}
      {keys.filter(key => chats.has(key)).map(key => (
        <div key={key}>
          <h3>{key}</h3>
          <Chat values={view.values[key] as unknown[]} />
          <Tree name={`${key} as data`} value={view.values[key]} depth={1} />
        </div>
      ))}
    </div>
  )
}
