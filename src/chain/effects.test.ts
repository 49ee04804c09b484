import { expect, test } from 'bun:test'
import { argumentsAsRead } from './effects.ts'
import { Exact } from './json.ts'

test.each([
  ['["a", 1]', ['a', 1]],
  [' [] ', []],
  ['[9223372036854775807]', [new Exact('9223372036854775807')]],
  ['["\\ud800","\\uD83D\\ude00"]', ['\ufffd', '\u{1f600}']],
  // The chain reads one value and ignores the rest.
  ['["a"] x', ['a']],
  ['["a"]["b"]', ['a']],
  ['["]", "\\"]"]}', [']', '"]']],
  ['[[1],{"b":[2]}]]', [[1], { b: [2] }]],
  // It drops a comma before the last bracket, of the arguments or of the text after them.
  ['["a",]', ['a']],
  ['[,]', []],
  ['["a" ,]', ['a']],
  ['["a"] x,]', ['a']],
] as const)('argumentsAsRead: %s is a list', (data, read) => {
  expect(argumentsAsRead(data)).toEqual(read as never)
})

test.each([
  ...['', 'x["a"]', '{"a":1}', '{"a":1}["a"]', '"["', '["a"', '["a', '["a",] ', '["a",,]', '\ufeff["a"]', '[01]'],
  ...["['a']", '["\n"]', ',]', ']', '"\\"'],
])('argumentsAsRead: %j begins with no list', data => {
  expect(argumentsAsRead(data)).toBeUndefined()
})
