// Layouts: ask the worker for one, and take from its SVG only what is known. Nothing of a graph's names becomes markup.

import type { LayoutAnswer } from './layout.worker'

const NS = 'http://www.w3.org/2000/svg'
const ELEMENTS = new Set(['svg', 'g', 'path', 'polygon', 'polyline', 'ellipse', 'text'])
const ATTRIBUTES = new Set([
  'd', 'points', 'cx', 'cy', 'rx', 'ry', 'x', 'y', 'transform', 'viewBox', 'id', 'class', 'fill', 'stroke',
  'stroke-dasharray', 'stroke-width', 'text-anchor', 'font-family', 'font-size',
])

let worker: Worker | null = null
let last = 0

/** The SVG of DOT text, as an element. Rejects with a reason. */
export function layOut(dot: string): Promise<SVGSVGElement> {
  worker ??= new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' })
  const asked = worker
  const id = ++last
  return new Promise((resolve, reject) => {
    const take = (event: MessageEvent<LayoutAnswer>) => {
      if (event.data.id !== id) return
      asked.removeEventListener('message', take)
      if (event.data.svg === null) reject(new Error(event.data.reason ?? 'no layout'))
      else resolve(safeSvg(event.data.svg))
    }
    asked.addEventListener('message', take)
    asked.postMessage({ id, dot })
  })
}

/** A copy of parsed SVG with the known elements and attributes alone. */
export function safeSvg(text: string): SVGSVGElement {
  const parsed = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement
  const copy = copyOf(parsed)
  if (!(copy instanceof SVGSVGElement)) throw new Error('The layout is no SVG.')
  return copy
}

function copyOf(element: Element): SVGElement | null {
  if (!ELEMENTS.has(element.localName)) return null
  const copy = document.createElementNS(NS, element.localName)
  for (const { name, value } of element.attributes) if (ATTRIBUTES.has(name)) copy.setAttribute(name, value)
  for (const child of element.childNodes) {
    if (child instanceof Element) {
      const part = copyOf(child)
      if (part) copy.append(part)
    } else if (element.localName === 'text') {
      copy.append(child.textContent ?? '')
    }
  }
  return copy
}
