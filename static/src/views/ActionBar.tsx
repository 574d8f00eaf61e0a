// What can be done from the shown checkpoint. Each button says what will really run.
// Buttons that come and go with the checkpoint stand last, so that none takes another's place under a pointer.

import { cancelRun, placeShown, startRun } from '../net/commands'
import { dispatch, readState } from '../store'
import { isBusy, shownCheckpoint } from '../store/selectors'

export function ActionBar() {
  const state = readState()
  const { view, timeline, focus } = state
  if (!focus.thread) return <header class="pane-head"><h2>Inspector</h2></header>
  const busy = isBusy(state)
  const isHead = focus.ns === '' && view !== null && shownCheckpoint(state) === timeline?.head
  const next = view?.next.join(', ') ?? ''
  const waits = (view?.interrupts.length ?? 0) > 0
  return (
    <header class="pane-head actions">
      <button class="primary" data-testid="run-open" disabled={busy} onClick={() => dispatch({ type: 'panelOpened', panel: 'run' })}>Run …</button>
      <button data-testid="edit-open" disabled={busy || !view} onClick={() => dispatch({ type: 'panelOpened', panel: state.panel === 'edit' ? null : 'edit' })}>Edit …</button>
      <button
        data-testid="replay" disabled={busy || !next}
        title={next ? `Runs again: ${next}, and what follows. Nodes before do not run. A new branch starts; the outside world is not rolled back.` : 'Nothing comes after this checkpoint'}
        onClick={() => void startRun({ input: null, checkpoint: placeShown() })}
      >
        Replay from here
      </button>
      {isHead && next && !waits && (
        <>
          <button data-testid="step" disabled={busy} title={`Runs ${next}, then stops`} onClick={() => void startRun({ until: 'step' })}>Step</button>
          <button data-testid="continue" disabled={busy} title={`Runs ${next} and on, to the next breakpoint or question`} onClick={() => void startRun({ until: 'pause' })}>Continue</button>
        </>
      )}
      <span class="grow" />
      {busy && <button class="danger" data-testid="cancel" onClick={() => void cancelRun()}>Cancel the run</button>}
    </header>
  )
}
