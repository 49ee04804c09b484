import { expect, test } from 'bun:test'
import { prettyJson } from './script.ts'

test('pretty JSON: the result equals that of JSON.stringify', () => {
  const value = { a: [1, [], {}, { 'b"{,[': 'c:\\"}' }], '': null, 中文: [true, ''], n: '\\' }
  expect(prettyJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2))
})

test('pretty JSON: every digit is kept', () => {
  expect(prettyJson('{"a":123456789012345678901.10,"b":[-0.000000001]}')).toBe(
    '{\n  "a": 123456789012345678901.10,\n  "b": [\n    -0.000000001\n  ]\n}',
  )
})
