// The questions that wait at the shown checkpoint, each with its own form.

import { useState } from 'preact/hooks'
import { placeShown, startRun } from '../net/commands'
import { readState } from '../store'
import { isBusy, shownCheckpoint } from '../store/selectors'
import type { CheckpointView, InterruptView } from '../wire'
import { brief, parseJson } from '../values'
import { Tree } from './Tree'

export function AnswerPanel({ view }: { view: CheckpointView }) {
  const state = readState()
  const [answers, setAnswers] = useState<Record<string, unknown>>({})
  const again = state.focus.ns === '' && shownCheckpoint(state) !== state.timeline?.head
  const several = view.interrupts.length > 1
  const send = (given: Record<string, unknown>) => {
    const only = view.interrupts.length === 1 ? Object.values(given)[0] : undefined
    const resume = several ? given : only
    void startRun({ command: { resume }, ...(again ? { checkpoint: placeShown() } : {}) })
  }
  const give = (id: string, value: unknown) => {
    if (several) setAnswers({ ...answers, [id]: value })
    else send({ [id]: value })
  }
  return (
    <div class="answers" role="group" aria-label="Questions">
      <h3>{again ? 'Answer again from here' : 'Waits for a person'}</h3>
      {again && <p class="dim">Another answer starts a new branch; the old one stays.</p>}
      {view.interrupts.map(asked => (
        <Question key={asked.id} asked={asked} several={several} chosen={asked.id in answers ? answers[asked.id] : undefined} onGive={value => give(asked.id, value)} />
      ))}
      {several && (
        <button class="primary" data-testid="answer-submit" disabled={Object.keys(answers).length === 0 || isBusy(state)} onClick={() => send(answers)}>
          Send {Object.keys(answers).length} of {view.interrupts.length} answers
        </button>
      )}
    </div>
  )
}

function Question({ asked, several, chosen, onGive }: { asked: InterruptView; several: boolean; chosen: unknown; onGive: (value: unknown) => void }) {
  const [text, setText] = useState('')
  const [asJson, setAsJson] = useState(false)
  const [reason, setReason] = useState<string | null>(null)
  const busy = isBusy(readState())
  const options = optionsOf(asked.value)
  const submit = (event: Event) => {
    event.preventDefault()
    if (!asJson) return onGive(text)
    const read = parseJson(text)
    if (read.ok) onGive(read.value)
    else setReason(`This is no JSON: ${read.reason}`)
  }
  return (
    <form class="question" data-testid="answer-form" onSubmit={submit}>
      <p class="asked">{questionOf(asked.value)}</p>
      {Object.entries(restOf(asked.value)).map(([name, value]) => <Tree key={name} name={name} value={value} />)}
      {options.length > 0 && (
        <div class="options">
          {options.map(option => <button key={brief(option)} type="button" disabled={busy} class={chosen === option ? 'chosen' : ''} onClick={() => onGive(option)}>{brief(option)}</button>)}
        </div>
      )}
      <div class="inline">
        <input data-testid="answer-value" aria-label="Answer" placeholder={options.length > 0 ? 'or another answer' : 'answer'} value={text} onInput={event => { setText(event.currentTarget.value); setReason(null) }} />
        <label class="check"><input type="checkbox" checked={asJson} onChange={event => setAsJson(event.currentTarget.checked)} /> JSON</label>
        <button type="submit" class={several ? '' : 'primary'} data-testid={several ? 'answer-keep' : 'answer-submit'} disabled={busy}>{several ? 'Keep' : 'Answer'}</button>
      </div>
      {several && chosen !== undefined && <p class="dim">Will answer: <b>{brief(chosen)}</b></p>}
      {reason && <p class="problem" role="alert">{reason}</p>}
    </form>
  )
}

function questionOf(value: unknown): string {
  if (value !== null && typeof value === 'object' && 'question' in value) return brief(value.question, 500)
  return typeof value === 'string' ? value : 'The node asks:'
}

/** What the payload says beside the question and the ready answers. */
function restOf(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== 'object') return {}
  if (Array.isArray(value)) return { payload: value }
  return Object.fromEntries(Object.entries(value).filter(([name]) => !['question', 'options', 'choices'].includes(name)))
}

/** Ready answers: those the payload offers, or yes and no. */
function optionsOf(value: unknown): unknown[] {
  if (typeof value === 'boolean') return [true, false]
  if (value === null || typeof value !== 'object') return []
  const record = value as Record<string, unknown>
  const given = record.options ?? record.choices
  return Array.isArray(given) ? given : []
}
