// JSON schema -> the fields of an input form, and form values -> an input.

export type FieldKind = 'text' | 'number' | 'boolean' | 'choice' | 'messages' | 'json'

export interface FieldSpec {
  name: string
  kind: FieldKind
  required: boolean
  options: string[]
  hint: string
}

type Schema = Record<string, unknown>

/** The fields of an object schema; what has no widget of its own is edited as JSON. */
export function fieldsOf(schema: Schema): FieldSpec[] {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const required = new Set((schema.required ?? []) as string[])
  return Object.entries(properties).map(([name, given]) => {
    const part = resolve(given, schema)
    return { name, required: required.has(name), ...kindOf(name, part, schema) }
  })
}

function resolve(part: Schema, root: Schema): Schema {
  const ref = part.$ref
  if (typeof ref === 'string') {
    const target = ((root.$defs ?? {}) as Record<string, Schema>)[ref.split('/').at(-1) ?? '']
    if (target) return target
  }
  const any = part.anyOf
  if (Array.isArray(any)) {
    const real = (any as Schema[]).filter(option => option.type !== 'null')
    if (real.length === 1 && real[0]) return resolve(real[0], root)
  }
  return part
}

function kindOf(name: string, part: Schema, root: Schema): { kind: FieldKind; options: string[]; hint: string } {
  if (Array.isArray(part.enum)) return { kind: 'choice', options: part.enum.map(String), hint: '' }
  switch (part.type) {
    case 'string': return { kind: 'text', options: [], hint: 'text' }
    case 'integer':
    case 'number': return { kind: 'number', options: [], hint: String(part.type) }
    case 'boolean': return { kind: 'boolean', options: [], hint: '' }
    case 'array': {
      const text = JSON.stringify(part.items ?? {}) + (name === 'messages' ? 'HumanMessage' : '')
      if (/HumanMessage/.test(text) || JSON.stringify(resolve((part.items ?? {}) as Schema, root)).includes('HumanMessage')) {
        return { kind: 'messages', options: [], hint: 'what a person says' }
      }
      return { kind: 'json', options: [], hint: 'a list, as JSON: ["a", "b"]' }
    }
    default: return name === 'messages' ? { kind: 'messages', options: [], hint: 'what a person says' } : { kind: 'json', options: [], hint: 'JSON' }
  }
}

/** Form texts -> an input; empty fields are left out. Throws with the field's name. */
export function inputOf(fields: FieldSpec[], texts: Record<string, string>): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const field of fields) {
    const text = texts[field.name] ?? ''
    if (text === '') continue
    input[field.name] = valueOf(field, text)
  }
  return input
}

function valueOf(field: FieldSpec, text: string): unknown {
  switch (field.kind) {
    case 'number': {
      const number = Number(text)
      if (Number.isNaN(number)) throw new Error(`${field.name}: '${text}' is no number.`)
      return number
    }
    case 'boolean': return text === 'true'
    case 'messages': return [{ role: 'user', content: text }]
    case 'json': try {
      return JSON.parse(text)
    } catch (error) {
      throw new Error(`${field.name}: this is no JSON (${error instanceof Error ? error.message : String(error)}).`)
    }
    default: return text
  }
}

/** An example input as form texts; null where the form cannot say it. */
export function textsOf(fields: FieldSpec[], input: Record<string, unknown>): Record<string, string> | null {
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(input)) {
    const field = fields.find(candidate => candidate.name === name)
    if (!field) return null
    if (field.kind === 'messages') {
      const only = Array.isArray(value) && value.length === 1 ? (value[0] as { content?: unknown }) : null
      if (typeof only?.content !== 'string') return null
      texts[name] = only.content
    } else {
      texts[name] = field.kind === 'json' ? JSON.stringify(value) : String(value)
    }
  }
  return texts
}
