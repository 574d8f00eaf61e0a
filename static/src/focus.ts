// The focus lives in the address, so that links, back and forward work.

import { dispatch, getState } from './store'
import { type Focus, type Tab, TABS } from './store/state'
import type { Boot } from './wire'

export function focusFromUrl(boot: Boot): Focus {
  const query = new URLSearchParams(location.search)
  const tab = query.get('tab') as Tab
  return {
    graph: query.get('graph') ?? boot.graphs[0]?.id ?? null,
    thread: query.get('thread'),
    ns: query.get('ns') ?? '',
    checkpoint: query.get('checkpoint'),
    tab: TABS.includes(tab) ? tab : 'state',
  }
}

export function urlOf(focus: Focus): string {
  const query = new URLSearchParams()
  for (const key of ['graph', 'thread', 'ns', 'checkpoint'] as const) if (focus[key]) query.set(key, focus[key])
  if (focus.tab !== 'state') query.set('tab', focus.tab)
  return `/?${query}`
}

/** Move the focus and the address with it. */
export function go(change: Partial<Focus>): void {
  const before = getState().focus
  const whole: Partial<Focus> = { ...change }
  if ('graph' in change && change.graph !== before.graph) Object.assign(whole, { thread: change.thread ?? null })
  if ('thread' in whole && whole.thread !== before.thread) Object.assign(whole, { ns: change.ns ?? '', checkpoint: change.checkpoint ?? null })
  if ('ns' in change && change.ns !== before.ns && !('checkpoint' in change)) whole.checkpoint = null
  dispatch({ type: 'focused', focus: whole })
  const url = urlOf(getState().focus)
  if (url !== location.pathname + location.search) history.pushState(null, '', url)
}

/** Keep the address true when the focus moved by itself (following a head). */
export function syncUrl(): void {
  const url = urlOf(getState().focus)
  if (url !== location.pathname + location.search) history.replaceState(null, '', url)
}
