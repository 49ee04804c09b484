import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isRoutable, MAX_PARAMETERS, parseQuery, parseTarget } from './request-text.ts'

const good: readonly (readonly [text: string, query: readonly (readonly [string, string])[]])[] = [
  ['', []],
  ['&&', []],
  [
    'a=1&b=2',
    [
      ['a', '1'],
      ['b', '2'],
    ],
  ],
  [
    'b=2&a=1&b=3',
    [
      ['b', '2'],
      ['a', '1'],
      ['b', '3'],
    ],
  ],
  ['a', [['a', '']]],
  ['a=', [['a', '']]],
  ['a=b=c', [['a', 'b=c']]],
  ['a=x+y%2B', [['a', 'x y+']]],
  ['%61=%E7%8C%AB', [['a', '猫']]],
  ['a=%EF%BB%BFx', [['a', '\uFEFFx']]],
  ['a=%00', [['a', '\0']]],
  ['a=猫%41', [['a', '猫A']]],
  [
    '__proto__=1&constructor=2',
    [
      ['__proto__', '1'],
      ['constructor', '2'],
    ],
  ],
]
for (const [text, query] of good)
  test(`parseQuery: ${JSON.stringify(text)}`, () =>
    expect(parseQuery(text)).toEqual({ query, keys: [], fault: undefined }))

const RULE = 'each % must be followed by two hexadecimal digits, and the bytes must be UTF-8.'
const bad: readonly (readonly [text: string, message: string])[] = [
  ['a=%', `Parameter 'a' is not encoded correctly: ${RULE}`],
  ['a=%4', `Parameter 'a' is not encoded correctly: ${RULE}`],
  ['a=%zz', `Parameter 'a' is not encoded correctly: ${RULE}`],
  ['a=%ff', `Parameter 'a' is not encoded correctly: ${RULE}`],
  ['a=%C0%80', `Parameter 'a' is not encoded correctly: ${RULE}`],
  ['a=%ED%A0%80', `Parameter 'a' is not encoded correctly: ${RULE}`],
  ['a=%F4%90%80%80', `Parameter 'a' is not encoded correctly: ${RULE}`],
  ['%zz=1', `Parameter name '%zz' is not encoded correctly: ${RULE}`],
  ['=1', 'A parameter has no name before the =.'],
  [`${'a=1&'.repeat(MAX_PARAMETERS)}b=1`, 'The query has 65 parameters; the limit is 64.'],
]
for (const [text, message] of bad)
  test(`parseQuery: refuses ${text.slice(0, 20)}`, () =>
    expect(parseQuery(text).fault).toMatchObject({ kind: 'bad_request', message }))

test('parseQuery: keys are removed, also from an invalid query', () => {
  expect(parseQuery('apikey=a&x=%&%61pikey=b&apikey=%')).toMatchObject({ query: [], keys: ['a', 'b', ''] })
  expect(parseQuery('APIKEY=a').keys).toEqual([])
})

test('parseQuery: the output of URLSearchParams is read back', () => {
  const text = fc.string({ unit: 'binary', maxLength: 12 }).filter(part => part.isWellFormed())
  const pair = fc.tuple(
    text.filter(name => name !== '' && name !== 'apikey'),
    text,
  )
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 20 }), pairs => {
      const written = new URLSearchParams(pairs).toString()
      expect(parseQuery(written)).toEqual({ query: pairs, keys: [], fault: undefined })
    }),
  )
})

const targets: readonly (readonly [url: string, path: string, query: string])[] = [
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
for (const [url, path, query] of targets)
  test(`targetOf: ${url}`, () => expect(parseTarget(url)).toEqual({ path, query }))

test('isRoutable: hosts of four characters and more are routable', () => {
  expect(['http://abcd/', 'https://h.example/api'].map(isRoutable)).toEqual([true, true])
  expect(['http://abc/', 'http://a/api', '/api/', 'http:///api'].map(isRoutable)).toEqual([false, false, false, false])
})
