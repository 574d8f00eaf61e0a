// Made by scripts/generate_wire.py from debugger/wire.py. Do not edit.

export type EventMode = 'values' | 'updates' | 'messages' | 'custom' | 'checkpoints' | 'tasks' | 'debug' | 'run' | 'edit'

export type ThreadStatus = 'idle' | 'busy' | 'interrupted' | 'error'

export type RunStatus = 'pending' | 'running' | 'success' | 'error' | 'interrupted' | 'cancelled'

export type Source = 'input' | 'loop' | 'update' | 'fork'

export interface ChannelInfo {
  name: string
  type: string
  reducer: string | null
}

export interface GraphInfo {
  id: string
  kind: 'runtime' | 'langgraph'
  target: string
  description: string
  notices: string[]
  channels: ChannelInfo[]
  input_schema: Record<string, unknown>
  example_inputs: Record<string, unknown>[]
}

export interface TopologyNode {
  id: string
  name: string
  kind: 'start' | 'end' | 'node' | 'subgraph'
  parent: string | null
  expanded: boolean
}

export interface TopologyEdge {
  id: string
  source: string
  target: string
  conditional: boolean
  anywhere: boolean
  label: string | null
}

export interface TopologyView {
  graph_id: string
  nodes: TopologyNode[]
  edges: TopologyEdge[]
  dot: string
  mermaid: string
}

export interface ThreadRow {
  thread_id: string
  graph_id: string
  status: 'idle' | 'busy' | 'interrupted' | 'error'
  created_at: string
  updated_at: string
  metadata: Record<string, unknown>
}

export interface NamespaceRef {
  ns: string
  label: string
  node: string | null
  task_id: string | null
  count: number
}

export interface TimelineRow {
  checkpoint_id: string
  parent_id: string | null
  step: number
  source: 'input' | 'loop' | 'update' | 'fork'
  writers: string[]
  changed: string[]
  next: string[]
  created_at: string
  interrupts: number
  error: string | null
  lane: number
  branch: string
  is_head: boolean
  run_id: string | null
  children: NamespaceRef[]
}

export interface Branch {
  id: string
  lane: number
  tip: string
  forked_from: string | null
  count: number
}

export interface TimelinePage {
  thread_id: string
  ns: string
  rows: TimelineRow[]
  branches: Branch[]
  head: string | null
  total: number
  next_before: string | null
}

export interface InterruptView {
  id: string
  value: unknown
}

export interface TaskView {
  id: string
  name: string
  path: unknown[]
  error: string | null
  interrupts: InterruptView[]
  result: unknown
  ended: boolean
  subgraph_ns: string | null
}

export interface Change {
  path: (string | number)[]
  op: 'add' | 'remove' | 'replace'
  before: unknown
  after: unknown
}

export interface CheckpointView {
  graph_id: string
  thread_id: string
  ns: string
  checkpoint_id: string
  parent_id: string | null
  step: number
  source: 'input' | 'loop' | 'update' | 'fork'
  created_at: string
  values: Record<string, unknown>
  message_channels: string[]
  next: string[]
  tasks: TaskView[]
  interrupts: InterruptView[]
  metadata: Record<string, unknown>
  config: Record<string, unknown>
  changes: Change[]
  children: NamespaceRef[]
  warnings: string[]
}

export interface CheckpointRef {
  checkpoint_id?: string | null
  checkpoint_ns?: string
  thread_id?: string | null
  checkpoint_map?: Record<string, string> | null
}

export interface StateEditRequest {
  values?: Record<string, unknown> | null
  as_node?: string | null
  checkpoint?: CheckpointRef | null
  checkpoint_id?: string | null
  overwrite?: string[]
}

export interface FieldProblem {
  path: (string | number)[]
  message: string
  fix: string
}

export interface ChannelPreview {
  name: string
  reducer: string | null
  before: unknown
  update: unknown
  after: unknown
  changed: boolean
}

export interface EditPreview {
  as_node: string | null
  next: string[]
  channels: ChannelPreview[]
  problems: FieldProblem[]
}

export interface AsNodeChoice {
  name: string
  next: string[]
}

export interface AsNodeChoices {
  choices: AsNodeChoice[]
  inferred: string | null
  reason: string
}

export interface CommandBody {
  resume?: unknown
  update?: unknown
  goto?: unknown
}

export interface RunRequest {
  assistant_id: string
  input?: unknown
  command?: CommandBody | null
  checkpoint?: CheckpointRef | null
  checkpoint_id?: string | null
  config?: Record<string, unknown> | null
  context?: Record<string, unknown> | null
  metadata?: Record<string, unknown> | null
  interrupt_before?: string[] | '*' | null
  interrupt_after?: string[] | '*' | null
  stream_mode?: string[] | string | null
  stream_subgraphs?: boolean
  stream_resumable?: boolean
  multitask_strategy?: 'reject' | 'enqueue' | 'interrupt' | 'rollback'
  if_not_exists?: 'create' | 'reject'
  on_disconnect?: 'cancel' | 'continue'
  durability?: 'sync' | 'async' | 'exit' | null
  until?: 'pause' | 'end' | 'step'
  after_edit?: boolean
}

export interface RunView {
  run_id: string
  thread_id: string
  assistant_id: string
  created_at: string
  updated_at: string
  status: 'pending' | 'running' | 'success' | 'error' | 'interrupted' | 'cancelled'
  metadata: Record<string, unknown>
  multitask_strategy: string
  error: string | null
}

export interface EventRow {
  seq: number
  ts: string
  thread_id: string
  run_id: string | null
  mode: 'values' | 'updates' | 'messages' | 'custom' | 'checkpoints' | 'tasks' | 'debug' | 'run' | 'edit'
  ns: string[]
  node: string | null
  task_id: string | null
  checkpoint_id: string | null
  phase: string | null
  summary: string
  data: unknown
}

export interface EventPage {
  thread_id: string
  events: EventRow[]
  last_seq: number
}

export interface WatchRequest {
  thread_id: string
  after?: number
}

export interface EventBatch {
  thread_id: string
  events: EventRow[]
}

export interface ThreadChanged {
  thread_id: string
  graph_id: string
  status: 'idle' | 'busy' | 'interrupted' | 'error'
  deleted: boolean
}

export interface ErrorBody {
  error: string
  reason: string
  fix: string
  problems: FieldProblem[]
}

export interface Boot {
  version: string
  graphs: GraphInfo[]
  database: string
}
