// What the person wishes, as calls: each loads or changes something on the server, and tells the store.

import { dispatch, getState } from '../store'
import { shownCheckpoint } from '../store/selectors'
import type {
  AsNodeChoices, CheckpointView, EditPreview, EventBatch, NamespaceRef, RunRequest, RunView, StateEditRequest, ThreadRow,
  TimelinePage, TopologyView,
} from '../wire'
import { call, query, Refused } from './api'
import { watch } from './socket'

/** Show why something did not happen. */
export function report(error: unknown): void {
  if (error instanceof Refused) {
    dispatch({ type: 'toastShown', kind: 'error', title: error.body.reason, fix: error.body.fix })
  } else {
    dispatch({ type: 'toastShown', kind: 'error', title: String(error), fix: 'Reload the page; the terminal may say more.' })
  }
}

async function quietly(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    report(error)
  }
}

// -- load ------------------------------------------------------------------------------------------------------------

export const loadThreads = (): Promise<void> => quietly(async () => {
  const graph = getState().focus.graph
  if (!graph) return
  dispatch({ type: 'threadsLoaded', graph, rows: await call<ThreadRow[]>('GET', `/debug/threads${query({ graph_id: graph })}`) })
})

export const loadTopology = (): Promise<void> => quietly(async () => {
  const { focus, expanded } = getState()
  if (!focus.graph) return
  const path = `/debug/graphs/${encodeURIComponent(focus.graph)}/topology${query({ expanded: expanded.join(',') })}`
  dispatch({ type: 'topologyLoaded', view: await call<TopologyView>('GET', path) })
})

export const loadTimeline = (older = false): Promise<void> => quietly(async () => {
  const { focus, timeline } = getState()
  if (!focus.thread) return
  const before = older ? timeline?.next : null
  if (older && !before) return
  const path = `/debug/threads/${focus.thread}/timeline${query({ ns: focus.ns, before, limit: '200' })}`
  dispatch({ type: 'timelineLoaded', page: await call<TimelinePage>('GET', path), older })
})

export const loadNamespaces = (): Promise<void> => quietly(async () => {
  const thread = getState().focus.thread
  if (!thread) return
  dispatch({ type: 'namespacesLoaded', thread, rows: await call<NamespaceRef[]>('GET', `/debug/threads/${thread}/namespaces`) })
})

export const loadView = (): Promise<void> => quietly(async () => {
  const { focus } = getState()
  const id = shownCheckpoint(getState())
  if (!focus.thread || !id) return
  const path = `/debug/threads/${focus.thread}/checkpoints/${id}${query({ ns: focus.ns })}`
  const view = await call<CheckpointView>('GET', path)
  if (shownCheckpoint(getState()) === view.checkpoint_id) dispatch({ type: 'viewLoaded', view })
})

let timer: number | undefined

/** Load what shows the thread, soon: many events cause one load. */
export function refreshSoon(): void {
  window.clearTimeout(timer)
  timer = window.setTimeout(() => void refresh(), 60)
}

export async function refresh(): Promise<void> {
  await Promise.all([loadTimeline(), loadNamespaces()])
  await loadView()
}

export function takeEvents(batch: EventBatch): void {
  dispatch({ type: 'eventsArrived', thread: batch.thread_id, rows: batch.events })
  if (batch.thread_id !== getState().focus.thread) return
  const telling = batch.events.some(row => ['checkpoints', 'run', 'edit'].includes(row.mode) || row.phase === 'interrupt')
  if (telling) refreshSoon()
}

export async function openThread(thread: string | null): Promise<void> {
  if (thread) await refresh()
  await quietly(() => watch(thread, takeEvents))
}

// -- change ----------------------------------------------------------------------------------------------------------

/** A new thread of the current graph; its id. */
export async function createThread(): Promise<string | null> {
  const graph = getState().focus.graph
  try {
    const row = await call<ThreadRow>('POST', '/threads', { metadata: { graph_id: graph } })
    await loadThreads()
    return row.thread_id
  } catch (error) {
    report(error)
    return null
  }
}

export const deleteThread = (thread: string): Promise<void> => quietly(async () => {
  await call('DELETE', `/threads/${thread}`)
  await loadThreads()
})

/** Start a run on the current thread. True if it started; then the page follows the head. */
export async function startRun(request: Omit<RunRequest, 'assistant_id'>): Promise<boolean> {
  const { focus } = getState()
  if (!focus.thread || !focus.graph) return false
  try {
    await call<RunView>('POST', `/threads/${focus.thread}/runs`, { assistant_id: focus.graph, ...request })
    dispatch({ type: 'formRefused', error: null })
    dispatch({ type: 'focused', focus: { checkpoint: null, ns: '' } })
    return true
  } catch (error) {
    if (error instanceof Refused) dispatch({ type: 'formRefused', error: error.body })
    report(error)
    return false
  }
}

export const cancelRun = (): Promise<void> => quietly(async () => {
  const thread = getState().focus.thread
  const runs = await call<RunView[]>('GET', `/debug/threads/${thread}/runs`)
  const running = runs.find(run => run.status === 'running' || run.status === 'pending')
  if (running) await call('POST', `/threads/${thread}/runs/${running.run_id}/cancel`)
})

export const loadAsNode = (): Promise<void> => quietly(async () => {
  const { focus } = getState()
  const path = `/debug/threads/${focus.thread}/as-node${query({ ns: focus.ns, checkpoint_id: shownCheckpoint(getState()) })}`
  dispatch({ type: 'asNodeLoaded', choices: await call<AsNodeChoices>('GET', path) })
})

/** The place that an edit or a run starts from. */
export function placeShown(): { checkpoint_id: string | null; checkpoint_ns: string } {
  return { checkpoint_id: shownCheckpoint(getState()), checkpoint_ns: getState().focus.ns }
}

export const previewEdit = (edit: StateEditRequest): Promise<void> => quietly(async () => {
  const thread = getState().focus.thread
  dispatch({ type: 'previewLoaded', preview: await call<EditPreview>('POST', `/debug/threads/${thread}/preview`, edit) })
})

/** Save an edit; the id of the new checkpoint, null when it was refused. */
export async function saveEdit(edit: StateEditRequest): Promise<string | null> {
  const thread = getState().focus.thread
  try {
    const made = await call<{ checkpoint: { checkpoint_id: string } }>('POST', `/threads/${thread}/state`, edit)
    dispatch({ type: 'panelOpened', panel: null })
    dispatch({ type: 'focused', focus: { checkpoint: null } })
    await refresh()
    return made.checkpoint.checkpoint_id
  } catch (error) {
    if (error instanceof Refused) dispatch({ type: 'formRefused', error: error.body })
    report(error)
    return null
  }
}
