// The page's whole state. Views are functions of it; only the reducer makes a new one.

import type {
  AsNodeChoices, Boot, Branch, CheckpointView, EditPreview, ErrorBody, EventMode, EventRow, NamespaceRef, ThreadRow,
  TimelineRow, TopologyView,
} from '../wire'

/** The one place that every pane shows. A null checkpoint follows the head. */
export interface Focus {
  graph: string | null
  thread: string | null
  ns: string
  checkpoint: string | null
  tab: Tab
}

export type Tab = 'state' | 'changes' | 'tasks' | 'metadata' | 'config'
export const TABS: readonly Tab[] = ['state', 'changes', 'tasks', 'metadata', 'config']
export type Panel = 'run' | 'edit' | null
export type NodeState = 'running' | 'done' | 'failed' | 'waiting' | 'next'
export type Connection = 'connecting' | 'open' | 'lost'

export interface Timeline {
  ns: string
  rows: TimelineRow[]
  branches: Branch[]
  head: string | null
  total: number
  next: string | null
}

export interface Filters {
  modes: EventMode[]
  ns: string
  node: string
  text: string
}

export interface Toast {
  id: number
  kind: 'error' | 'info'
  title: string
  fix: string
}

export interface State {
  boot: Boot
  focus: Focus
  threads: ThreadRow[]
  topology: TopologyView | null
  expanded: string[]
  namespaces: NamespaceRef[]
  timeline: Timeline | null
  view: CheckpointView | null
  events: EventRow[]
  lastSeq: number
  /** Node id to what it does in the run that is on, or was last. */
  live: Record<string, NodeState>
  filters: Filters
  connection: Connection
  panel: Panel
  asNode: AsNodeChoices | null
  preview: EditPreview | null
  formError: ErrorBody | null
  toasts: Toast[]
  drawer: boolean
}

export const ALL_MODES: readonly EventMode[] = [
  'run', 'edit', 'values', 'updates', 'messages', 'custom', 'checkpoints', 'tasks', 'debug',
]

export function initialState(boot: Boot, focus: Focus): State {
  return {
    boot,
    focus,
    threads: [],
    topology: null,
    expanded: [],
    namespaces: [],
    timeline: null,
    view: null,
    events: [],
    lastSeq: 0,
    live: {},
    filters: { modes: [...ALL_MODES].filter(mode => mode !== 'debug'), ns: '', node: '', text: '' },
    connection: 'connecting',
    panel: null,
    asNode: null,
    preview: null,
    formError: null,
    toasts: [],
    drawer: true,
  }
}
