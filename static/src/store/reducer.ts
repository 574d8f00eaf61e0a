// Pure: state and action -> state.

import type { EventRow, ThreadRow, TimelinePage } from '../wire'
import type { Action } from './actions'
import type { NodeState, State, Timeline } from './state'

/** Events kept in the page; older ones stay in the journal. */
export const EVENT_LIMIT = 5000

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case 'focused':
      return refocus(state, action.focus)
    case 'threadsLoaded':
      return action.graph === state.focus.graph ? { ...state, threads: action.rows } : state
    case 'threadChanged':
      return changeThread(state, action.change)
    case 'topologyLoaded':
      return action.view.graph_id === state.focus.graph ? { ...state, topology: action.view } : state
    case 'subgraphToggled':
      return { ...state, expanded: toggled(state.expanded, action.id) }
    case 'namespacesLoaded':
      return action.thread === state.focus.thread ? { ...state, namespaces: action.rows } : state
    case 'timelineLoaded':
      return isFocused(state, action.page.thread_id, action.page.ns)
        ? { ...state, timeline: mergePage(state.timeline, action.page, action.older) }
        : state
    case 'viewLoaded':
      return isFocused(state, action.view.thread_id, action.view.ns) ? { ...state, view: action.view } : state
    case 'eventsArrived':
      return action.thread === state.focus.thread ? addEvents(state, action.rows) : state
    case 'filtered':
      return { ...state, filters: { ...state.filters, ...action.filters } }
    case 'connectionChanged':
      return { ...state, connection: action.connection }
    case 'panelOpened':
      return { ...state, panel: action.panel, preview: null, asNode: null, formError: null }
    case 'asNodeLoaded':
      return { ...state, asNode: action.choices }
    case 'previewLoaded':
      return { ...state, preview: action.preview }
    case 'formRefused':
      return { ...state, formError: action.error }
    case 'toastShown': {
      const { kind, title, fix } = action
      const id = 1 + Math.max(0, ...state.toasts.map(toast => toast.id))
      return { ...state, toasts: [...state.toasts.slice(-3), { id, kind, title, fix }] }
    }
    case 'toastClosed':
      return { ...state, toasts: state.toasts.filter(toast => toast.id !== action.id) }
    case 'drawerToggled':
      return { ...state, drawer: !state.drawer }
  }
}

function isFocused(state: State, thread: string, ns: string): boolean {
  return state.focus.thread === thread && state.focus.ns === ns
}

function toggled(list: string[], item: string): string[] {
  return list.includes(item) ? list.filter(other => other !== item && !other.startsWith(`${item}:`)) : [...list, item]
}

/** Whatever belonged to the old place goes with it. */
function refocus(state: State, change: Partial<State['focus']>): State {
  const focus = { ...state.focus, ...change }
  let next: State = { ...state, focus }
  if (focus.graph !== state.focus.graph) next = { ...next, threads: [], topology: null, expanded: [] }
  if (focus.thread !== state.focus.thread) {
    next = { ...next, namespaces: [], events: [], lastSeq: 0, live: {}, timeline: null, view: null, panel: null }
  }
  if (focus.ns !== state.focus.ns) next = { ...next, timeline: null, view: null, panel: null }
  return next
}

function changeThread(state: State, change: { thread_id: string; graph_id: string; status: ThreadRow['status']; deleted: boolean }): State {
  if (change.graph_id !== state.focus.graph) return state
  if (change.deleted) return { ...state, threads: state.threads.filter(row => row.thread_id !== change.thread_id) }
  const threads = state.threads.map(row => (row.thread_id === change.thread_id ? { ...row, status: change.status } : row))
  return { ...state, threads }
}

/** A newer first page replaces what it covers and keeps older rows that were loaded before. */
function mergePage(old: Timeline | null, page: TimelinePage, older: boolean): Timeline {
  const base = { ns: page.ns, branches: page.branches, head: page.head, total: page.total }
  if (!old || old.ns !== page.ns) return { ...base, rows: page.rows, next: page.next_before }
  if (older) return { ...base, rows: [...old.rows, ...page.rows], next: page.next_before }
  const last = page.rows.at(-1)?.checkpoint_id
  const rest = last === undefined || page.next_before === null ? [] : old.rows.filter(row => row.checkpoint_id < last)
  return { ...base, rows: [...page.rows, ...rest], next: rest.length > 0 ? old.next : page.next_before }
}

function addEvents(state: State, rows: EventRow[]): State {
  const fresh = rows.filter(row => row.seq > state.lastSeq)
  if (fresh.length === 0) return state
  const events = [...state.events, ...fresh].slice(-EVENT_LIMIT)
  return { ...state, events, lastSeq: fresh[fresh.length - 1]?.seq ?? state.lastSeq, live: fresh.reduce(follow, state.live) }
}

/** What an event says about a node of the drawing. */
function follow(live: Record<string, NodeState>, row: EventRow): Record<string, NodeState> {
  if (row.mode === 'run' && row.phase === 'started') return {}
  if (row.mode === 'run') return Object.fromEntries(Object.entries(live).filter(([, state]) => state !== 'running'))
  if (row.mode !== 'tasks' || row.node === null) return live
  const states: Record<string, NodeState> = { start: 'running', result: 'done', error: 'failed', interrupt: 'waiting' }
  const state = states[row.phase ?? '']
  return state === undefined ? live : { ...live, [nodeId(row.ns, row.node)]: state }
}

/** The id of a node in the drawing, from the namespace that an event came from. */
export function nodeId(ns: string[], node: string): string {
  const path = ns.filter(part => !/^\d+$/.test(part)).map(part => part.split(':')[0] ?? part)
  return [...path, node].join(':')
}
