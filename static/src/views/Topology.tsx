// The drawing of the graph: laid out once for what is open, coloured as the run goes.

import { useEffect, useRef, useState } from 'preact/hooks'
import { loadTopology } from '../net/commands'
import { dispatch, readState } from '../store'
import { nodeStates } from '../store/selectors'
import type { TopologyNode } from '../wire'
import { copyText } from './clipboard'
import { layOut } from './svg'

const LEGEND = [['running', 'running'], ['done', 'just ran'], ['next', 'runs next'], ['waiting', 'waits for a person'], ['failed', 'failed']] as const

export function Topology() {
  const state = readState()
  const view = state.topology
  const holder = useRef<HTMLDivElement>(null)
  const [drawn, setDrawn] = useState(0)
  const [reason, setReason] = useState<string | null>(null)
  const camera = useCamera(holder)

  useEffect(() => {
    if (!view) return
    let stale = false
    layOut(view.dot).then(svg => {
      if (stale || !holder.current) return
      label(svg, view.nodes)
      holder.current.replaceChildren(svg)
      setReason(null)
      setDrawn(n => n + 1)
      camera.fit()
    }, (error: Error) => setReason(error.message))
    return () => { stale = true }
  }, [view?.dot])

  const states = nodeStates(state)
  useEffect(() => {
    holder.current?.querySelectorAll<SVGGElement>('[data-node]').forEach(group => {
      const name = group.dataset.node ?? ''
      if (states[name]) group.dataset.state = states[name]
      else delete group.dataset.state
    })
  }, [drawn, states])

  const toggle = (id: string) => {
    dispatch({ type: 'subgraphToggled', id })
    void loadTopology()
  }
  const onPick = (event: Event) => {
    const group = (event.target as Element).closest<SVGGElement>('[data-subgraph]')
    if (group?.dataset.node && !camera.moved()) toggle(group.dataset.node)
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' || event.key === ' ') onPick(event)
  }
  return (
    <section class="pane topology" aria-label="Topology" data-testid="topology">
      <header class="pane-head">
        <h2>Topology</h2>
        <span class="grow" />
        <button class="quiet" data-testid="copy-mermaid" onClick={() => view && void copyText(view.mermaid, 'Mermaid text')}>Copy Mermaid</button>
        <button class="quiet" aria-label="Zoom out" onClick={() => camera.zoom(1 / 1.25)}>−</button>
        <button class="quiet" aria-label="Zoom in" onClick={() => camera.zoom(1.25)}>+</button>
        <button class="quiet" onClick={camera.fit}>Fit</button>
      </header>
      <div class="legend">{LEGEND.map(([key, text]) => <span key={key} class={`key ${key}`}>{text}</span>)}</div>
      {reason && <p class="notice error">The drawing could not be laid out: {reason}</p>}
      <div class="canvas" ref={holder} onClick={onPick} onKeyDown={onKey} />
      {!view && <p class="empty">Loading the graph …</p>}
    </section>
  )
}

/** Give the drawing's groups what tests, CSS and screen readers need. */
function label(svg: SVGSVGElement, nodes: TopologyNode[]): void {
  const byId = new Map(nodes.map(node => [node.id, node]))
  svg.removeAttribute('width')
  svg.removeAttribute('height')
  svg.querySelectorAll<SVGGElement>('g[id]').forEach(group => {
    const [kind, id] = [group.id.slice(0, 2), group.id.slice(2)]
    const node = byId.get(id)
    if (!node || (kind !== 'n|' && kind !== 'c|')) return
    group.dataset.node = id
    group.dataset.testid = 'topology-node'
    if (node.kind !== 'subgraph') return
    group.dataset.subgraph = node.expanded ? 'open' : 'closed'
    group.setAttribute('tabindex', '0')
    group.setAttribute('role', 'button')
    group.setAttribute('aria-expanded', String(node.expanded))
    group.setAttribute('aria-label', `Subgraph ${node.name}: ${node.expanded ? 'close' : 'open'}`)
  })
}

/** Pan by dragging, zoom by the wheel, fit to the pane. */
function useCamera(holder: { current: HTMLDivElement | null }) {
  const at = useRef({ x: 0, y: 0, scale: 1, moved: false })
  const apply = () => {
    const svg = holder.current?.querySelector('svg')
    if (svg) svg.style.transform = `translate(${at.current.x}px, ${at.current.y}px) scale(${at.current.scale})`
  }
  const fit = () => {
    at.current = { x: 0, y: 0, scale: 1, moved: false }
    apply()
  }
  const zoom = (by: number) => {
    at.current.scale = Math.min(6, Math.max(0.2, at.current.scale * by))
    apply()
  }
  useEffect(() => {
    const element = holder.current
    if (!element) return
    const onWheel = (event: WheelEvent) => {
      event.preventDefault()
      zoom(event.deltaY < 0 ? 1.1 : 1 / 1.1)
    }
    const onDown = (event: PointerEvent) => {
      const start = { x: event.clientX - at.current.x, y: event.clientY - at.current.y }
      at.current.moved = false
      const onMove = (move: PointerEvent) => {
        if (Math.abs(move.clientX - event.clientX) + Math.abs(move.clientY - event.clientY) > 4) at.current.moved = true
        at.current.x = move.clientX - start.x
        at.current.y = move.clientY - start.y
        apply()
      }
      const onUp = () => window.removeEventListener('pointermove', onMove)
      window.addEventListener('pointermove', onMove)
      window.addEventListener('pointerup', onUp, { once: true })
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    element.addEventListener('pointerdown', onDown)
    return () => {
      element.removeEventListener('wheel', onWheel)
      element.removeEventListener('pointerdown', onDown)
    }
  }, [])
  return { fit, zoom, moved: () => at.current.moved }
}
