// Start: read what the page brought, make the store, follow the focus.

import { effect } from '@preact/signals'
import { render } from 'preact'
import { focusFromUrl, syncUrl } from './focus'
import { loadThreads, loadTopology, loadView, openThread, refresh, takeEvents } from './net/commands'
import { connect } from './net/socket'
import { createStore, dispatch, readState } from './store'
import { shownCheckpoint } from './store/selectors'
import './styles/base.css'
import './styles/layout.css'
import './styles/parts.css'
import { App } from './views/App'
import { restoreTheme } from './views/theme'
import type { Boot } from './wire'

const boot = JSON.parse(document.getElementById('boot')?.textContent ?? '{}') as Boot
restoreTheme()
createStore(boot, focusFromUrl(boot))

/** Run `work` when what `read` gives has changed. */
function onChange(read: () => string, work: () => void): void {
  let before: string | null = null
  effect(() => {
    const now = read()
    if (now === before) return
    before = now
    queueMicrotask(work)
  })
}

onChange(() => readState().focus.graph ?? '', () => { void loadThreads(); void loadTopology() })
onChange(() => readState().focus.thread ?? '', () => void openThread(readState().focus.thread))
onChange(() => `${readState().focus.thread} ${readState().focus.ns}`, () => void refresh())
onChange(() => shownCheckpoint(readState()) ?? '', () => { syncUrl(); void loadView() })
addEventListener('popstate', () => dispatch({ type: 'focused', focus: focusFromUrl(boot) }))
connect(() => void loadThreads(), takeEvents)
render(<App />, document.getElementById('app') as HTMLElement)
