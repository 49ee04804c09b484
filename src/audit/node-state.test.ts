import { expect, test } from 'bun:test'
import { distinct } from './node-state.ts'

test('distinct: each text is counted once, with any number of texts and any names', () => {
  const { add } = distinct()
  const names = [...Array.from({ length: 20_000 }, (_, at) => `auth-${at}`), '', '__proto__', '12345']
  expect(names.filter(add)).toEqual(names)
  expect(names.filter(add)).toEqual([])
})
