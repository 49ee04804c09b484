import { expect, test } from 'bun:test'
import { typeText } from './client-text.ts'

const one = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }

test.each<readonly [unknown, string]>([
  [{ type: 'integer' }, 'number'],
  [{ type: 'string', enum: ['asc', 'desc'] }, '"asc" | "desc"'],
  [{ type: 'integer', const: 0 }, '0'],
  [{ anyOf: [{ type: 'number' }, { type: 'integer' }, { type: 'null' }] }, 'number | null'],
  [{ type: 'array', items: { type: 'string' } }, 'string[]'],
  [{ type: 'array', items: { anyOf: [one, { type: 'null' }] } }, '({\n  readonly a: string\n} | null)[]'],
  [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, '("a" | "b")[]'],
  [{ type: 'array', items: {} }, 'unknown[]'],
  [{ type: 'object', properties: { 'a-b': { type: 'boolean' } } }, '{\n  readonly "a-b"?: boolean\n}'],
  [{ type: 'object', patternProperties: { '^(.*)$': { type: 'number' } } }, '{ readonly [name: string]: number }'],
  [{ type: 'object', properties: {}, additionalProperties: true }, '{ readonly [name: string]: unknown }'],
  [{ type: 'object', properties: {}, additionalProperties: false }, 'Record<string, never>'],
  [{ type: 'array', items: one }, '{\n  readonly a: string\n}[]'],
])('typeText: %j', (schema, text) => {
  expect(typeText(schema)).toBe(text)
})

test('typeText: a description cannot end its comment', () => {
  const field = { type: 'string', description: 'a */ b' }
  expect(typeText({ type: 'object', properties: { field } })).toBe('{\n  /** a * / b */\n  readonly field?: string\n}')
})
