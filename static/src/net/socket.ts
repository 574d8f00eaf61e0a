// The socket: news of threads, and the events of the watched one. After a break it asks for what it missed.

import { io, type Socket } from 'socket.io-client'
import { dispatch, getState } from '../store'
import type { EventBatch, EventPage, ThreadChanged } from '../wire'
import { call, query } from './api'

let socket: Socket | null = null
let watched: string | null = null

export function connect(onThreads: () => void, onEvents: (batch: EventBatch) => void): void {
  socket = io({ transports: ['websocket', 'polling'] })
  socket.on('connect', () => {
    dispatch({ type: 'connectionChanged', connection: 'open' })
    onThreads()
    if (watched) void join(watched, onEvents)
  })
  socket.on('disconnect', () => dispatch({ type: 'connectionChanged', connection: 'lost' }))
  socket.on('connect_error', () => dispatch({ type: 'connectionChanged', connection: 'lost' }))
  socket.on('thread', (change: ThreadChanged) => {
    const known = getState().threads.some(row => row.thread_id === change.thread_id)
    dispatch({ type: 'threadChanged', change })
    if (!known) onThreads()
  })
  socket.on('events', (batch: EventBatch) => onEvents(batch))
}

/** Follow a thread's events, those already journalled first. */
export async function watch(thread: string | null, onEvents: (batch: EventBatch) => void): Promise<void> {
  if (watched && watched !== thread) socket?.emit('unwatch', { thread_id: watched })
  watched = thread
  if (thread) await join(thread, onEvents)
}

async function join(thread: string, onEvents: (batch: EventBatch) => void): Promise<void> {
  const after = getState().focus.thread === thread ? getState().lastSeq : 0
  if (socket?.connected) {
    const page = (await socket.timeout(10_000).emitWithAck('watch', { thread_id: thread, after })) as EventPage
    await take(page, onEvents)
  } else {
    await take(await call<EventPage>('GET', `/debug/threads/${thread}/events${query({ after: String(after) })}`), onEvents)
  }
}

/** Page by page, until the newest. */
async function take(page: EventPage, onEvents: (batch: EventBatch) => void): Promise<void> {
  if (!page.events) return
  onEvents({ thread_id: page.thread_id, events: page.events })
  const last = page.events.at(-1)?.seq ?? page.last_seq
  if (last < page.last_seq && watched === page.thread_id) {
    const path = `/debug/threads/${page.thread_id}/events${query({ after: String(last), limit: '5000' })}`
    await take(await call<EventPage>('GET', path), onEvents)
  }
}
