// Graphs, and the threads of the chosen one.

import { go } from '../focus'
import { createThread, deleteThread } from '../net/commands'
import { readState } from '../store'
import { currentGraph } from '../store/selectors'
import type { ThreadRow } from '../wire'
import { clock } from '../values'

const WORDS = { idle: 'idle', busy: 'running', interrupted: 'stands half-way', error: 'failed' }

export function Sidebar() {
  const state = readState()
  const graph = currentGraph(state)
  const make = async () => {
    const thread = await createThread()
    if (thread) go({ thread })
  }
  return (
    <aside class="sidebar" aria-label="Graphs and threads">
      <h2>Graphs</h2>
      <ul class="list">
        {state.boot.graphs.map(item => (
          <li key={item.id}>
            <button data-testid="graph-item" data-graph={item.id} class={`item${item.id === graph?.id ? ' selected' : ''}`} aria-current={item.id === graph?.id} title={`${item.description}\n${item.target}`} onClick={() => go({ graph: item.id })}>
              {item.id}<span class="dim">{item.kind === 'langgraph' ? 'LangGraph' : ''}</span>
            </button>
          </li>
        ))}
      </ul>
      {graph && <p class="about">{graph.description}</p>}
      {graph?.notices.map(text => <p key={text} class="about dim">{text}</p>)}
      <h2>Threads <button class="quiet" data-testid="new-thread" onClick={() => void make()}>+ New thread</button></h2>
      <ul class="list threads">
        {state.threads.map(row => <Thread key={row.thread_id} row={row} selected={row.thread_id === state.focus.thread} />)}
        {state.threads.length === 0 && <li class="empty">No thread yet.</li>}
      </ul>
    </aside>
  )
}

function Thread({ row, selected }: { row: ThreadRow; selected: boolean }) {
  const remove = async () => {
    if (!window.confirm(`Delete thread ${row.thread_id} with all its checkpoints?`)) return
    if (selected) go({ thread: null })
    await deleteThread(row.thread_id)
  }
  return (
    <li class="thread-line">
      <button data-testid="thread-item" data-thread={row.thread_id} data-status={row.status} class={`item${selected ? ' selected' : ''}`} aria-current={selected} title={`${row.thread_id}: ${WORDS[row.status]}`} onClick={() => go({ thread: row.thread_id })}>
        <span class={`status ${row.status}`} role="img" aria-label={WORDS[row.status]} />
        <span class="mono">{row.thread_id.slice(0, 8)}</span>
        <time class="dim">{clock(row.created_at).slice(0, 8)}</time>
      </button>
      <button class="quiet remove" aria-label={`Delete thread ${row.thread_id.slice(0, 8)}`} onClick={() => void remove()}>×</button>
    </li>
  )
}
