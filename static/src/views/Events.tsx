// The live event stream: filtered, followed, numbered; the newest at the bottom.

import { useEffect, useRef, useState } from 'preact/hooks'
import { dispatch, readState } from '../store'
import { EVENT_LIMIT } from '../store/reducer'
import { visibleEvents } from '../store/selectors'
import { ALL_MODES } from '../store/state'
import type { EventMode, EventRow } from '../wire'
import { clock, pretty } from '../values'

const ROW = 24

export function Events() {
  const state = readState()
  const list = useRef<HTMLDivElement>(null)
  const [follow, setFollow] = useState(true)
  const [open, setOpen] = useState<number | null>(null)
  const [scroll, setScroll] = useState({ top: 0, height: 160 })
  const shown = visibleEvents(state.events, state.filters)
  useEffect(() => {
    if (follow && list.current) list.current.scrollTop = list.current.scrollHeight
  }, [shown.length, follow])
  const onScroll = () => {
    const element = list.current
    if (!element) return
    setScroll({ top: element.scrollTop, height: element.clientHeight })
    setFollow(element.scrollHeight - element.scrollTop - element.clientHeight < 2 * ROW)
  }
  const first = Math.max(0, Math.floor(scroll.top / ROW) - 10)
  const last = Math.min(shown.length, Math.ceil((scroll.top + scroll.height) / ROW) + 10)
  const chosen = shown.find(row => row.seq === open)
  return (
    <section class="pane events" aria-label="Events">
      <header class="pane-head">
        <button class="quiet" aria-expanded={state.drawer} onClick={() => dispatch({ type: 'drawerToggled' })}>{state.drawer ? '▾' : '▸'} Events</button>
        {state.drawer && <EventFilters />}
        <span class="grow" />
        <span class="dim">{shown.length} shown, {state.events.length - shown.length} hidden{state.events.length >= EVENT_LIMIT ? `, only the last ${EVENT_LIMIT} are here` : ''}</span>
        {!follow && <button class="quiet" onClick={() => setFollow(true)}>Follow</button>}
      </header>
      {state.drawer && (
        <div class="event-body">
          <div class="event-list" ref={list} onScroll={onScroll} tabIndex={0} aria-label="Events, oldest first">
            <div class="tall" ref={tall => { if (tall) tall.style.height = `${shown.length * ROW}px` }}>
              {shown.slice(first, last).map((row, i) => <Row key={row.seq} row={row} index={first + i} open={row.seq === open} onOpen={() => setOpen(row.seq === open ? null : row.seq)} />)}
            </div>
            {shown.length === 0 && <p class="empty">{state.events.length > 0 ? 'No event passes the filters.' : 'Events appear here while a graph runs, and stay after a reload.'}</p>}
          </div>
          {chosen && <pre class="event-data">{pretty(chosen.data)}</pre>}
        </div>
      )}
    </section>
  )
}

function Row({ row, index, open, onOpen }: { row: EventRow; index: number; open: boolean; onOpen: () => void }) {
  return (
    <button
      class={`event${open ? ' open' : ''}`} data-testid="event-row" data-mode={row.mode} data-seq={row.seq} data-phase={row.phase ?? ''}
      ref={element => { if (element) element.style.transform = `translateY(${index * ROW}px)` }} onClick={onOpen}
    >
      <span class="seq">{row.seq}</span>
      <time class="dim">{clock(row.ts)}</time>
      <span class={`badge m-${row.mode}`}>{row.mode}</span>
      <span class="dim">{row.ns.map(part => part.split(':')[0]).join(' > ')}</span>
      <span class="summary">{row.summary}</span>
    </button>
  )
}

function EventFilters() {
  const { filters, events } = readState()
  const spaces = [...new Set(events.map(row => row.ns.join('|')))].filter(ns => ns !== '')
  const nodes = [...new Set(events.map(row => row.node).filter((node): node is string => node !== null))].sort()
  const toggle = (mode: EventMode) => {
    const modes = filters.modes.includes(mode) ? filters.modes.filter(other => other !== mode) : [...filters.modes, mode]
    dispatch({ type: 'filtered', filters: { modes } })
  }
  return (
    <>
      <span class="modes" data-testid="event-filter-mode" role="group" aria-label="Modes">
        {ALL_MODES.map(mode => <button key={mode} class={`toggle m-${mode}`} data-mode={mode} aria-pressed={filters.modes.includes(mode)} onClick={() => toggle(mode)}>{mode}</button>)}
      </span>
      <select data-testid="event-filter-ns" aria-label="Namespace of events" value={filters.ns} onChange={event => dispatch({ type: 'filtered', filters: { ns: event.currentTarget.value } })}>
        <option value="">all namespaces</option>
        <option value="(root)">root only</option>
        {spaces.map(ns => <option key={ns} value={ns}>{ns.split('|').map(part => part.split(':')[0]).join(' > ')}</option>)}
      </select>
      <select data-testid="event-filter-node" aria-label="Node of events" value={filters.node} onChange={event => dispatch({ type: 'filtered', filters: { node: event.currentTarget.value } })}>
        <option value="">all nodes</option>
        {nodes.map(node => <option key={node} value={node}>{node}</option>)}
      </select>
      <input data-testid="event-search" aria-label="Search events" placeholder="search" value={filters.text} onInput={event => dispatch({ type: 'filtered', filters: { text: event.currentTarget.value } })} />
    </>
  )
}
