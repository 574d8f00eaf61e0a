// The thread's checkpoints, newest first: branches as lanes, one row each; only the rows in sight are drawn.

import { useEffect, useRef, useState } from 'preact/hooks'
import { go } from '../focus'
import { loadTimeline } from '../net/commands'
import { getState, readState } from '../store'
import { shownCheckpoint } from '../store/selectors'
import type { TimelineRow } from '../wire'
import { clock } from '../values'
import { type LaneLine, laneLines } from './lanes'

const ROW = 40
const LANE = 14

export function Timeline() {
  const state = readState()
  const list = useRef<HTMLDivElement>(null)
  const [scroll, setScroll] = useState({ top: 0, height: 400 })
  const timeline = state.timeline
  const rows = timeline?.rows ?? []
  const shown = shownCheckpoint(state)

  useEffect(() => {
    const element = list.current
    if (!element) return
    const measure = () => setScroll({ top: element.scrollTop, height: element.clientHeight })
    const watch = new ResizeObserver(measure)
    watch.observe(element)
    return () => watch.disconnect()
  }, [])

  const following = state.focus.checkpoint === null
  useEffect(() => {
    if (following && list.current) list.current.scrollTop = 0
  }, [following, timeline?.ns])

  const onScroll = () => {
    const element = list.current
    if (!element) return
    setScroll({ top: element.scrollTop, height: element.clientHeight })
    if (element.scrollHeight - element.scrollTop - element.clientHeight < 10 * ROW) void loadTimeline(true)
  }
  const first = Math.max(0, Math.floor(scroll.top / ROW) - 5)
  const last = Math.min(rows.length, Math.ceil((scroll.top + scroll.height) / ROW) + 5)
  const lines = laneLines(rows, timeline?.branches ?? [])
  const lanes = 1 + Math.max(0, ...rows.map(row => row.lane))
  return (
    <section class="pane timeline" aria-label="Timeline">
      <header class="pane-head">
        <h2>Timeline</h2>
        <NamespaceSwitch />
        <span class="grow" />
        {timeline && <span class="dim">{rows.length < timeline.total ? `${rows.length} of ` : ''}{timeline.total} checkpoints, {timeline.branches.length} {timeline.branches.length === 1 ? 'branch' : 'branches'}</span>}
      </header>
      <div
        class="rows" ref={list} tabIndex={0} role="listbox" aria-label="Checkpoints, newest first" data-testid="timeline"
        aria-activedescendant={shown ? `row-${shown}` : undefined}
        onScroll={onScroll} onKeyDown={event => onKey(event, list.current)}
      >
        <div class="tall" ref={tall => { if (tall) tall.style.height = `${rows.length * ROW}px` }}>
          {rows.slice(first, last).map((row, i) => (
            <Row key={row.checkpoint_id} row={row} index={first + i} lanes={lanes} lines={lines[first + i] ?? []} selected={row.checkpoint_id === shown} />
          ))}
        </div>
        {rows.length === 0 && <p class="empty">{state.focus.thread ? 'Nothing has run on this thread yet. Start with Run.' : 'Choose a thread, or make a new one.'}</p>}
      </div>
    </section>
  )
}

/** Arrows and j/k step, Home and End jump. */
function onKey(event: KeyboardEvent, list: HTMLDivElement | null): void {
  const state = getState()
  const rows = state.timeline?.rows ?? []
  const at = rows.findIndex(row => row.checkpoint_id === shownCheckpoint(state))
  const steps: Record<string, number> = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: rows.length - 1 }
  const target = steps[event.key]
  if (target === undefined) return
  event.preventDefault()
  const row = rows[Math.min(rows.length - 1, Math.max(0, target))]
  if (!row) return
  go({ checkpoint: row.checkpoint_id })
  const top = rows.indexOf(row) * ROW
  if (list && (top < list.scrollTop || top + ROW > list.scrollTop + list.clientHeight)) list.scrollTop = top - list.clientHeight / 2
}

function Row({ row, index, lanes, lines, selected }: { row: TimelineRow; index: number; lanes: number; lines: LaneLine[]; selected: boolean }) {
  const what = row.source === 'input' ? 'new input' : row.writers.length > 0 ? row.writers.join(', ') : row.source === 'fork' ? 'replay starts here' : row.source === 'update' ? 'edit' : 'input taken'
  return (
    <div
      id={`row-${row.checkpoint_id}`} class={`row${selected ? ' selected' : ''}`} role="option" aria-selected={selected} data-testid="timeline-row"
      data-checkpoint={row.checkpoint_id} data-step={row.step} data-source={row.source} data-lane={row.lane}
      ref={element => { if (element) element.style.transform = `translateY(${index * ROW}px)` }}
      onClick={() => go({ checkpoint: row.checkpoint_id })}
    >
      <Lanes row={row} lanes={lanes} lines={lines} />
      <span class="step">{row.step}</span>
      <span class={`badge ${row.source}`}>{row.source}</span>
      <span class="what">
        <b>{what}</b>
        <span class="second">
          {row.changed.length > 0 ? row.changed.map(name => <span key={name} class="chip">{name}</span>) : <span class="dim">no change</span>}
          {row.children.map(child => (
            <button key={child.ns} class="chip link" data-testid="child-ns" title={child.ns} onClick={event => { event.stopPropagation(); go({ ns: child.ns }) }}>
              ▸ {child.label} ({child.count})
            </button>
          ))}
        </span>
      </span>
      <span class="next" title="runs next">{row.next.length > 0 ? `→ ${row.next.join(', ')}` : '■ end'}</span>
      <span class="marks">
        {row.interrupts > 0 && <span class="mark waiting" title={`${row.interrupts} waiting for an answer`}>? {row.interrupts}</span>}
        {row.error && <span class="mark failed" title={row.error}>failed</span>}
        {row.is_head && <span class="mark head" title="the newest checkpoint: runs go on from here">head</span>}
      </span>
      <time class="dim">{clock(row.created_at)}</time>
    </div>
  )
}

function Lanes({ row, lanes, lines }: { row: TimelineRow; lanes: number; lines: LaneLine[] }) {
  const width = lanes * LANE + 8
  const x = (lane: number) => 10 + lane * LANE
  return (
    <svg class="lanes" width={width} height={ROW} viewBox={`0 0 ${width} ${ROW}`} aria-hidden="true">
      {lines.map((line, i) => <path key={i} class={`lane l${line.lane % 6}`} d={pathOf(line, x)} />)}
      <circle class={`dot l${row.lane % 6}${row.is_head ? ' head' : ''}`} cx={x(row.lane)} cy={ROW / 2} r={row.is_head ? 5 : 4} />
    </svg>
  )
}

function pathOf(line: LaneLine, x: (lane: number) => number): string {
  const [at, to, middle] = [x(line.lane), x(line.to), ROW / 2]
  if (line.part === 'through') return `M${at} 0V${ROW}`
  if (line.part === 'down') return `M${at} ${middle}V${ROW}`
  if (line.part === 'up') return `M${at} 0V${middle}`
  return `M${at} 0C${at} ${middle} ${to + (at - to) / 2} ${middle} ${to} ${middle}`
}

/** The path from the root to the shown namespace, and the others to choose from. */
function NamespaceSwitch() {
  const state = readState()
  if (state.namespaces.length < 2) return null
  return (
    <select data-testid="ns-switch" aria-label="Namespace" value={state.focus.ns} onChange={event => go({ ns: event.currentTarget.value })}>
      {state.namespaces.map(found => <option key={found.ns} value={found.ns}>{found.label} ({found.count})</option>)}
    </select>
  )
}
