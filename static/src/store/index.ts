// The store: one signal, one way in.

import { type Signal, signal } from '@preact/signals'
import type { Boot } from '../wire'
import type { Action } from './actions'
import { reduce } from './reducer'
import { type Focus, initialState, type State } from './state'

let current: Signal<State> | null = null

/** Make the store. Call once, before anything is drawn. */
export function createStore(boot: Boot, focus: Focus): void {
  current = signal(initialState(boot, focus))
}

function store(): Signal<State> {
  if (!current) throw new Error('createStore comes first')
  return current
}

export function dispatch(action: Action): void {
  store().value = reduce(store().peek(), action)
}

/** Read in a view: the view follows what it read. */
export function readState(): State {
  return store().value
}

/** Read outside views. */
export function getState(): State {
  return store().peek()
}
