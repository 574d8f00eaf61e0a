// What views need, worked out of the state.

import type { EventRow, GraphInfo, ThreadRow, TimelineRow } from '../wire'
import { nodeId } from './reducer'
import type { Filters, NodeState, State } from './state'

export function currentGraph(state: State): GraphInfo | null {
  return state.boot.graphs.find(graph => graph.id === state.focus.graph) ?? null
}

export function currentThread(state: State): ThreadRow | null {
  return state.threads.find(row => row.thread_id === state.focus.thread) ?? null
}

export function isBusy(state: State): boolean {
  return currentThread(state)?.status === 'busy'
}

/** The checkpoint that is shown: the chosen one, or the head. */
export function shownCheckpoint(state: State): string | null {
  return state.focus.checkpoint ?? state.timeline?.head ?? null
}

export function selectedRow(state: State): TimelineRow | null {
  const id = shownCheckpoint(state)
  return state.timeline?.rows.find(row => row.checkpoint_id === id) ?? null
}

/** How each node is drawn: live while a run is on; else as the shown checkpoint stands. */
export function nodeStates(state: State): Record<string, NodeState> {
  if (isBusy(state)) return state.live
  const view = state.view
  if (!view) return {}
  const path = view.ns ? view.ns.split('|') : []
  const states: Record<string, NodeState> = {}
  for (const name of selectedRow(state)?.writers ?? []) states[nodeId(path, name)] = 'done'
  for (const name of view.next) states[nodeId(path, name)] = 'next'
  for (const task of view.tasks) {
    if (task.ended) continue
    if (task.error !== null) states[nodeId(path, task.name)] = 'failed'
    if (task.interrupts.length > 0) states[nodeId(path, task.name)] = 'waiting'
  }
  return states
}

export function visibleEvents(events: EventRow[], filters: Filters): EventRow[] {
  const modes = new Set(filters.modes)
  const text = filters.text.toLowerCase()
  return events.filter(row =>
    modes.has(row.mode)
    && (filters.ns === '' || (filters.ns === '(root)' ? row.ns.length === 0 : row.ns.join('|') === filters.ns))
    && (filters.node === '' || row.node === filters.node)
    && (text === '' || row.summary.toLowerCase().includes(text) || JSON.stringify(row.data).toLowerCase().includes(text)),
  )
}
