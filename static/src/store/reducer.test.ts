import { expect, test } from 'vitest'
import type { Boot, CheckpointView, EventRow, TimelinePage, TimelineRow } from '../wire'
import { nodeId, reduce } from './reducer'
import { visibleEvents } from './selectors'
import { initialState, type State } from './state'

const boot: Boot = { version: '1', graphs: [], database: 'memory' }
const start = (): State => initialState(boot, { graph: 'g', thread: 't', ns: '', checkpoint: null, tab: 'state' })
const event = (seq: number, fields: Partial<EventRow> = {}): EventRow => ({
  seq, ts: '', thread_id: 't', run_id: 'r', mode: 'tasks', ns: [], node: 'a', task_id: '1', checkpoint_id: null, phase: 'start', summary: '', data: null, ...fields,
})
const page = (ids: string[], next: string | null): TimelinePage => ({
  thread_id: 't', ns: '', rows: ids.map(checkpoint_id => ({ checkpoint_id }) as TimelineRow), branches: [], head: ids[0] ?? null, total: 9, next_before: next,
})
const arrive = (state: State, ...rows: EventRow[]) => reduce(state, { type: 'eventsArrived', thread: 't', rows })

test('an event that comes twice counts once', () => {
  const state = arrive(arrive(start(), event(1), event(2)), event(2), event(3))
  expect(state.events.map(row => row.seq)).toEqual([1, 2, 3])
})

test('events of another thread are not taken', () => {
  const state = reduce(start(), { type: 'eventsArrived', thread: 'other', rows: [event(1)] })
  expect(state.events).toEqual([])
})

test('a node lights up as its task starts, and shows how it ended', () => {
  let state = arrive(start(), event(1), event(2, { node: 'b', ns: ['sub:1', 'deep:2'] }))
  expect(state.live).toEqual({ a: 'running', 'sub:deep:b': 'running' })
  state = arrive(state, event(3, { phase: 'result' }), event(4, { node: 'b', ns: ['sub:1', 'deep:2'], phase: 'error' }))
  expect(state.live).toEqual({ a: 'done', 'sub:deep:b': 'failed' })
})

test('a new run starts with a clean drawing, and none runs after its end', () => {
  const before = arrive(start(), event(1, { phase: 'result' }), event(2, { mode: 'run', phase: 'started', node: null }))
  expect(before.live).toEqual({})
  const after = arrive(before, event(3), event(4, { mode: 'run', phase: 'cancelled', node: null }))
  expect(after.live).toEqual({})
})

test('the call number of a repeated subgraph is no part of a node id', () => {
  expect(nodeId(['call:1', '2'], 'x')).toBe('call:x')
})

test('a newer first page keeps the older rows that were loaded', () => {
  let state = reduce(start(), { type: 'timelineLoaded', page: page(['5', '4'], '4'), older: false })
  state = reduce(state, { type: 'timelineLoaded', page: page(['3', '2'], null), older: true })
  state = reduce(state, { type: 'timelineLoaded', page: page(['6', '5'], '5'), older: false })
  expect(state.timeline?.rows.map(row => row.checkpoint_id)).toEqual(['6', '5', '4', '3', '2'])
  expect(state.timeline?.next).toBeNull()
})

test('what comes late for another thread or namespace is dropped', () => {
  const late = { thread_id: 't', ns: 'sub:1' } as CheckpointView
  expect(reduce(start(), { type: 'viewLoaded', view: late }).view).toBeNull()
})

test('another thread takes nothing of the old one along', () => {
  const state = reduce(arrive(start(), event(1)), { type: 'focused', focus: { thread: 'u' } })
  expect([state.events, state.lastSeq, state.live, state.view]).toEqual([[], 0, {}, null])
})

test('filters work together', () => {
  const rows = [event(1), event(2, { mode: 'debug' }), event(3, { ns: ['sub:1'], summary: 'needle' })]
  const filters = { ...start().filters }
  expect(visibleEvents(rows, filters).map(row => row.seq)).toEqual([1, 3])
  expect(visibleEvents(rows, { ...filters, ns: '(root)' }).map(row => row.seq)).toEqual([1])
  expect(visibleEvents(rows, { ...filters, text: 'NEEDLE' }).map(row => row.seq)).toEqual([3])
})
