import { expect, test } from 'bun:test'
import { typeText } from './client-text.ts'

test('typeText: a description cannot end its comment', () => {
  const field = { type: 'string', description: 'a */ b' }
  expect(typeText({ type: 'object', properties: { field } })).toBe('{\n  /** a * / b */\n  readonly field?: string\n}')
})
