import { expect, test } from 'vitest'
import { fieldsOf, inputOf, textsOf } from './schema'

const schema = {
  properties: {
    name: { type: 'string' }, count: { type: 'integer' }, on: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    kind: { enum: ['a', 'b'] }, tags: { type: 'array', items: { type: 'string' } },
    messages: { type: 'array', items: { oneOf: [{ $ref: '#/$defs/HumanMessage' }] } },
  },
  required: ['name'],
}

test('each type has its field', () => {
  expect(fieldsOf(schema).map(field => field.kind)).toEqual(['text', 'number', 'boolean', 'choice', 'json', 'messages'])
})

test('texts become a typed input, empty fields are left out', () => {
  const input = inputOf(fieldsOf(schema), { name: 'x', count: '3', on: 'false', tags: '["t"]', messages: 'hi', kind: '' })
  expect(input).toEqual({ name: 'x', count: 3, on: false, tags: ['t'], messages: [{ role: 'user', content: 'hi' }] })
})

test('a bad field is named', () => {
  expect(() => inputOf(fieldsOf(schema), { count: 'three' })).toThrow("count: 'three' is no number.")
  expect(() => inputOf(fieldsOf(schema), { tags: '[' })).toThrow(/^tags: this is no JSON/)
})

test('an example that the form cannot say is shown raw', () => {
  expect(textsOf(fieldsOf(schema), { messages: [{ role: 'user', content: 'hi' }], count: 2 })).toEqual({ messages: 'hi', count: '2' })
  expect(textsOf(fieldsOf(schema), { unknown: 1 })).toBeNull()
})
