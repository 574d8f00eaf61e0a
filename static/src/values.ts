// Tagged JSON of the server (see debugger/values.py), for showing and for editing.

export interface Tagged {
  $type: string
  $value?: unknown
  $repr?: string
  $size?: number
}

export function isTagged(value: unknown): value is Tagged {
  return value !== null && typeof value === 'object' && '$type' in value
}

export interface Message {
  type: string
  content: unknown
  id?: string | null
  name?: string | null
  tool_calls?: { name: string; args: unknown; id: string }[]
  tool_call_id?: string
  status?: string
}

export function asMessage(value: unknown): Message | null {
  return isTagged(value) && value.$type === 'message' ? (value.$value as Message) : null
}

/** What a person calls the type of a value. */
export function typeOf(value: unknown): string {
  if (value === null) return 'None'
  if (isTagged(value)) return value.$type
  if (Array.isArray(value)) return `list ${value.length}`
  switch (typeof value) {
    case 'string': return 'str'
    case 'number': return Number.isInteger(value) ? 'int' : 'float'
    case 'boolean': return 'bool'
    default: return `dict ${Object.keys(value as object).length}`
  }
}

/** The parts of a value that can be opened. */
export function partsOf(value: unknown): [string, unknown][] {
  if (isTagged(value)) return value.$value !== null && typeof value.$value === 'object' ? partsOf(value.$value) : []
  if (Array.isArray(value)) return value.map((item, index) => [String(index), item])
  if (value !== null && typeof value === 'object') return Object.entries(value)
  return []
}

/** A value in one line. */
export function brief(value: unknown, limit = 120): string {
  if (isTagged(value)) {
    const message = asMessage(value)
    if (message) return cut(`${message.type}: ${textOf(message.content) || (message.tool_calls ?? []).map(c => c.name).join(', ')}`, limit)
    return cut(value.$repr ?? brief(value.$value, limit), limit)
  }
  return cut(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), limit)
}

function cut(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text
}

/** The text of a message's content, whether it is a text or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(part => (part && typeof part === 'object' && 'text' in part ? String(part.text) : JSON.stringify(part))).join('\n')
  return content === null || content === undefined ? '' : JSON.stringify(content)
}

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'null'
}

/** JSON text as a value, or why it is none, with the place. */
export function parseJson(text: string): { ok: true; value: unknown } | { ok: false; reason: string } {
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) }
  }
}

export function clock(iso: string): string {
  return iso.slice(11, 23)
}
