// Lays out DOT text off the page's thread.

import { Graphviz } from '@hpcc-js/wasm-graphviz'

export interface LayoutRequest { id: number; dot: string }
export interface LayoutAnswer { id: number; svg: string | null; reason: string | null }

const ready = Graphviz.load()

self.onmessage = async (event: MessageEvent<LayoutRequest>) => {
  const { id, dot } = event.data
  try {
    const graphviz = await ready
    self.postMessage({ id, svg: graphviz.layout(dot, 'svg', 'dot'), reason: null } satisfies LayoutAnswer)
  } catch (error) {
    self.postMessage({ id, svg: null, reason: String(error) } satisfies LayoutAnswer)
  }
}
