import { expect, test } from 'bun:test'
import { isRoutable, targetOf } from './target.ts'

const cases: readonly (readonly [url: string, path: string, query: string])[] = [
  ['http://localhost:8080/api/?a=1&b=%zz', '/api/', 'a=1&b=%zz'],
  ['https://h.example/api', '/api', ''],
  ['http://h.example', '/', ''],
  ['http://h.example?x', '/', 'x'],
  ['http://a/rpc/x', '/rpc/x', ''],
  ['/api/?a=/b?c', '/api/', 'a=/b?c'],
  ['http://[::1/api', '/api', ''],
  ['http://h.example/a#b?c', '/a', ''],
  ['http://h.example/a?b#c', '/a', 'b'],
  ['http://h.example//evil/api', '//evil/api', ''],
]
for (const [url, path, query] of cases)
  test(`targetOf: ${url}`, () => expect(targetOf(url)).toEqual({ path, query }))

test('isRoutable: hosts of four characters and more', () => {
  expect(['http://abcd/', 'https://h.example/api'].map(isRoutable)).toEqual([true, true])
  expect(['http://abc/', 'http://a/api', '/api/', 'http:///api'].map(isRoutable)).toEqual([
    false,
    false,
    false,
    false,
  ])
})
