// Start a run with a new input: a form made from the state's schema, or raw JSON.

import { useEffect, useRef, useState } from 'preact/hooks'
import { startRun } from '../net/commands'
import { dispatch, readState } from '../store'
import { currentGraph } from '../store/selectors'
import { brief, parseJson, pretty } from '../values'
import { type FieldSpec, fieldsOf, inputOf, textsOf } from './schema'

export function RunPanel() {
  const state = readState()
  const graph = currentGraph(state)
  const dialog = useRef<HTMLDialogElement>(null)
  const fields = fieldsOf(graph?.input_schema ?? {})
  const examples = graph?.example_inputs ?? []
  const [texts, setTexts] = useState<Record<string, string>>(examples[0] ? (textsOf(fields, examples[0]) ?? {}) : {})
  const [raw, setRaw] = useState<string | null>(fields.length === 0 ? pretty(examples[0] ?? {}) : null)
  const [until, setUntil] = useState<'pause' | 'end' | 'step'>('pause')
  const [reason, setReason] = useState<string | null>(null)
  useEffect(() => dialog.current?.showModal(), [])

  const close = () => dispatch({ type: 'panelOpened', panel: null })
  const take = (example: Record<string, unknown>) => {
    const filled = textsOf(fields, example)
    if (raw !== null || filled === null) setRaw(pretty(example))
    else setTexts(filled)
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    let input: unknown
    if (raw !== null) {
      const read = parseJson(raw)
      if (!read.ok) return setReason(`This is no JSON: ${read.reason}`)
      input = read.value
    } else {
      try {
        input = inputOf(fields, texts)
      } catch (error) {
        return setReason(error instanceof Error ? error.message : String(error))
      }
    }
    if (await startRun({ input, until })) close()
  }
  return (
    <dialog ref={dialog} class="dialog" aria-label="Run with a new input" onClose={close}>
      <form data-testid="run-form" onSubmit={event => void submit(event)}>
        <h2>Run {graph?.id} with a new input</h2>
        {examples.length > 0 && (
          <div class="options">
            <span class="dim">Examples:</span>
            {examples.map((example, i) => <button key={i} type="button" onClick={() => take(example)}>{exampleName(example)}</button>)}
          </div>
        )}
        {raw === null
          ? fields.map(field => <Field key={field.name} field={field} text={texts[field.name] ?? ''} onText={text => { setTexts({ ...texts, [field.name]: text }); setReason(null) }} />)
          : <textarea aria-label="Input as JSON" data-testid="run-raw" spellcheck={false} rows={10} value={raw} onInput={event => { setRaw(event.currentTarget.value); setReason(null) }} />}
        <label class="check">
          <input type="checkbox" checked={raw !== null} onChange={() => setRaw(raw === null ? pretty(tryInput(fields, texts)) : null)} /> raw JSON
        </label>
        {reason && <p class="problem" role="alert">{reason}</p>}
        {state.formError && <p class="problem" role="alert">{state.formError.reason} {state.formError.fix}</p>}
        <div class="buttons">
          <label for="run-until">Run</label>
          <select id="run-until" value={until} onChange={event => setUntil(event.currentTarget.value as typeof until)}>
            <option value="pause">to the next pause</option>
            <option value="end">to the end, past breakpoints</option>
            <option value="step">one step</option>
          </select>
          <span class="grow" />
          <button type="button" class="quiet" onClick={close}>Close</button>
          <button type="submit" class="primary" data-testid="run-submit">Start the run</button>
        </div>
      </form>
    </dialog>
  )
}

function tryInput(fields: FieldSpec[], texts: Record<string, string>): unknown {
  try {
    return inputOf(fields, texts)
  } catch {
    return texts
  }
}

function exampleName(example: Record<string, unknown>): string {
  const first = Object.values(example)[0]
  const message = Array.isArray(first) ? (first[0] as { content?: unknown } | undefined)?.content : undefined
  return Object.keys(example).length === 0 ? 'empty' : brief(message ?? first, 40)
}

function Field({ field, text, onText }: { field: FieldSpec; text: string; onText: (text: string) => void }) {
  const id = `input-${field.name}`
  const change = (event: { currentTarget: { value: string } }) => onText(event.currentTarget.value)
  return (
    <div class="field">
      <label for={id}><b>{field.name}</b> <span class="type">{field.hint}{field.required ? '' : ' (may be left empty)'}</span></label>
      {field.kind === 'choice' || field.kind === 'boolean'
        ? (
          <select id={id} data-field={field.name} value={text} onChange={change}>
            <option value="" />
            {(field.kind === 'boolean' ? ['true', 'false'] : field.options).map(option => <option key={option} value={option}>{option}</option>)}
          </select>
        )
        : field.kind === 'messages' || field.kind === 'json'
          ? <textarea id={id} data-field={field.name} rows={2} spellcheck={field.kind === 'messages'} value={text} onInput={change} />
          : <input id={id} data-field={field.name} value={text} inputMode={field.kind === 'number' ? 'decimal' : 'text'} onInput={change} />}
    </div>
  )
}
