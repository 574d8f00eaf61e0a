// Edit the shown checkpoint: a value for each chosen key, in whose name, and what the reducers will make of it.

import { useEffect, useState } from 'preact/hooks'
import { loadAsNode, placeShown, previewEdit, saveEdit, startRun } from '../net/commands'
import { dispatch, readState } from '../store'
import { currentGraph } from '../store/selectors'
import type { CheckpointView, ChannelPreview, EditPreview, StateEditRequest } from '../wire'
import { brief, parseJson, pretty } from '../values'

export function EditPanel({ view }: { view: CheckpointView }) {
  const state = readState()
  const graph = currentGraph(state)
  const names = Object.keys(view.values).length > 0 || view.ns ? new Set([...Object.keys(view.values), ...(view.ns ? [] : graph?.channels.map(c => c.name) ?? [])]) : new Set(graph?.channels.map(c => c.name))
  const [texts, setTexts] = useState<Record<string, string>>({})
  const [overwrite, setOverwrite] = useState<string[]>([])
  const [asNode, setAsNode] = useState<string | null>(null)
  useEffect(() => void loadAsNode(), [view.checkpoint_id])
  const chosen = asNode ?? state.asNode?.inferred ?? null

  const read = Object.entries(texts).map(([name, text]) => [name, parseJson(text)] as const)
  const broken = read.filter(([, parsed]) => !parsed.ok)
  const request: StateEditRequest = {
    values: Object.fromEntries(read.flatMap(([name, parsed]) => (parsed.ok ? [[name, parsed.value]] : []))),
    as_node: chosen,
    checkpoint: placeShown(),
    overwrite: overwrite.filter(name => name in texts),
  }
  const asked = JSON.stringify(request)
  const ready = read.length > 0 && broken.length === 0
  useEffect(() => {
    if (!ready) return dispatch({ type: 'previewLoaded', preview: null })
    const timer = window.setTimeout(() => void previewEdit(request), 200)
    return () => window.clearTimeout(timer)
  }, [asked, ready])

  const save = async (until: 'pause' | 'end' | null) => {
    const made = await saveEdit(request)
    if (made && until) await startRun({ input: null, checkpoint: { checkpoint_id: made, checkpoint_ns: view.ns }, until, after_edit: true })
  }
  const toggle = (name: string) => {
    const next = { ...texts }
    if (name in next) delete next[name]
    else next[name] = pretty(view.values[name] ?? null)
    setTexts(next)
  }
  const problems = [...(state.preview?.problems ?? []), ...(state.formError?.problems ?? [])]
  return (
    <div class="edit" role="form" aria-label="Edit">
      <h3>Edit step {view.step}: a new branch starts here, the old one stays</h3>
      <AsNode chosen={chosen} onChoose={setAsNode} />
      <p class="dim">Choose keys to change:</p>
      <div class="options">
        {[...names].map(name => (
          <button key={name} type="button" data-testid="edit-channel" data-channel={name} class={name in texts ? 'chosen' : ''} aria-pressed={name in texts} onClick={() => toggle(name)}>{name}</button>
        ))}
      </div>
      {Object.entries(texts).map(([name, text]) => {
        const channel = graph?.channels.find(c => c.name === name)
        const parsed = parseJson(text)
        const reducer = state.preview?.channels.find(c => c.name === name)?.reducer ?? channel?.reducer
        return (
          <div key={name} class="field">
            <label for={`edit-${name}`}><b>{name}</b> <span class="type">{channel?.type}</span></label>
            {reducer && (
              <label class="check" title="Leave the reducer out: the value stands as it is">
                <input type="checkbox" checked={overwrite.includes(name)} onChange={() => setOverwrite(overwrite.includes(name) ? overwrite.filter(n => n !== name) : [...overwrite, name])} /> replace (past {reducer})
              </label>
            )}
            <textarea id={`edit-${name}`} data-testid="edit-value" aria-label={`New value of ${name}, as JSON`} spellcheck={false} rows={Math.min(10, text.split('\n').length + 1)} value={text} onInput={event => setTexts({ ...texts, [name]: event.currentTarget.value })} />
            {!parsed.ok && <p class="problem" role="alert">This is no JSON: {parsed.reason}</p>}
            {problems.filter(p => p.path[0] === name).map(p => <p key={p.message} class="problem" role="alert">{p.message} {p.fix}</p>)}
          </div>
        )
      })}
      {problems.filter(p => !(String(p.path[0]) in texts)).map(p => <p key={p.message} class="problem" role="alert">{p.message} {p.fix}</p>)}
      {ready && state.preview && state.preview.problems.length === 0 && <Preview preview={state.preview} />}
      <div class="buttons">
        <button class="primary" data-testid="edit-save" disabled={!ready} onClick={() => void save(null)}>Save</button>
        <button data-testid="edit-save-pause" disabled={!ready || view.ns !== ''} onClick={() => void save('pause')}>Save and run to next pause</button>
        <button data-testid="edit-save-end" disabled={!ready || view.ns !== ''} onClick={() => void save('end')}>Save and run to end</button>
        <button class="quiet" onClick={() => dispatch({ type: 'panelOpened', panel: null })}>Close</button>
      </div>
    </div>
  )
}

function AsNode({ chosen, onChoose }: { chosen: string | null; onChoose: (name: string) => void }) {
  const choices = readState().asNode
  if (!choices) return <p class="dim">Finding the nodes that this can be made as …</p>
  return (
    <div class="field">
      <label for="as-node"><b>As if written by</b></label>
      <select id="as-node" data-testid="as-node" value={chosen ?? ''} onChange={event => onChoose(event.currentTarget.value)}>
        {chosen === null && <option value="">choose a node …</option>}
        {choices.choices.map(choice => (
          <option key={choice.name} value={choice.name}>{choice.name}: then {choice.next.length > 0 ? choice.next.join(', ') : 'the end'}</option>
        ))}
      </select>
      <p class="dim">{choices.reason}</p>
    </div>
  )
}

function Preview({ preview }: { preview: EditPreview }) {
  return (
    <div class="preview" data-testid="edit-preview">
      <h4>What the graph will make of it</h4>
      {preview.channels.map(channel => <PreviewRow key={channel.name} channel={channel} />)}
      <p>Runs next: <b>{preview.next.length > 0 ? preview.next.join(', ') : 'nothing, the thread ends'}</b></p>
    </div>
  )
}

function PreviewRow({ channel }: { channel: ChannelPreview }) {
  return (
    <dl class={channel.changed ? 'changed' : ''}>
      <dt>{channel.name}{channel.reducer ? ` by ${channel.reducer}` : ''}</dt>
      <dd><del>{brief(channel.before, 200)}</del></dd>
      <dd><ins>{brief(channel.after, 200)}</ins>{channel.changed ? '' : ' (no change)'}</dd>
    </dl>
  )
}
