// What can happen: answers of the server, messages of the socket, wishes of the person.

import type {
  AsNodeChoices, CheckpointView, EditPreview, ErrorBody, EventRow, NamespaceRef, ThreadChanged, ThreadRow, TimelinePage,
  TopologyView,
} from '../wire'
import type { Connection, Filters, Focus, Panel } from './state'

export type Action =
  | { type: 'focused'; focus: Partial<Focus> }
  | { type: 'threadsLoaded'; graph: string; rows: ThreadRow[] }
  | { type: 'threadChanged'; change: ThreadChanged }
  | { type: 'topologyLoaded'; view: TopologyView }
  | { type: 'subgraphToggled'; id: string }
  | { type: 'namespacesLoaded'; thread: string; rows: NamespaceRef[] }
  | { type: 'timelineLoaded'; page: TimelinePage; older: boolean }
  | { type: 'viewLoaded'; view: CheckpointView }
  | { type: 'eventsArrived'; thread: string; rows: EventRow[] }
  | { type: 'filtered'; filters: Partial<Filters> }
  | { type: 'connectionChanged'; connection: Connection }
  | { type: 'panelOpened'; panel: Panel }
  | { type: 'asNodeLoaded'; choices: AsNodeChoices }
  | { type: 'previewLoaded'; preview: EditPreview | null }
  | { type: 'formRefused'; error: ErrorBody | null }
  | { type: 'toastShown'; kind: 'error' | 'info'; title: string; fix: string }
  | { type: 'toastClosed'; id: number }
  | { type: 'drawerToggled' }
