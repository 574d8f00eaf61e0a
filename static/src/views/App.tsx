// The workspace: graphs and threads, topology over timeline, inspector, events.

import { dispatch, readState } from '../store'
import { currentThread } from '../store/selectors'
import { Events } from './Events'
import { Inspector } from './Inspector'
import { RunPanel } from './RunPanel'
import { Sidebar } from './Sidebar'
import { toggleTheme } from './theme'
import { Timeline } from './Timeline'
import { Topology } from './Topology'

const CONNECTION = { connecting: 'connecting …', open: 'live', lost: 'disconnected: what is missed comes when the server answers again' }

export function App() {
  const state = readState()
  const thread = currentThread(state)
  return (
    <div class={`app${state.drawer ? '' : ' folded'}`}>
      <header class="top">
        <span class="brand">Forkpoint</span>
        <span class="dim">{state.focus.graph}{thread ? ` / ${thread.thread_id.slice(0, 8)}` : ''}</span>
        {thread && <span class={`mark t-${thread.status}`} data-testid="thread-status">{thread.status}</span>}
        <span class="grow" />
        <span class="dim mono" title="database">{state.boot.database}</span>
        <span class={`connection ${state.connection}`} data-testid="connection" data-state={state.connection}>{CONNECTION[state.connection]}</span>
        <button class="quiet" data-testid="theme-toggle" onClick={toggleTheme}>Light / dark</button>
      </header>
      <Sidebar />
      <main class="centre"><Topology /><Timeline /></main>
      <Inspector />
      <Events />
      {state.panel === 'run' && <RunPanel />}
      <div class="toasts" role="status" aria-live="polite">
        {state.toasts.map(toast => (
          <div key={toast.id} class={`toast ${toast.kind}`} data-testid="toast">
            <div><b>{toast.title}</b> {toast.fix}</div>
            <button class="quiet" aria-label="Close" onClick={() => dispatch({ type: 'toastClosed', id: toast.id })}>×</button>
          </div>
        ))}
      </div>
    </div>
  )
}
