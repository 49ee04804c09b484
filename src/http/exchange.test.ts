import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isRoutable, MAX_PARAMETERS, parseQuery, parseTarget } from './exchange.ts'

const good: readonly (readonly [text: string, query: readonly (readonly [string, string])[]])[] = [
  ['', []],
  ['&&', []],
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
test.each(good)('parseQuery: %j', (text, query) => {
  expect(parseQuery(text)).toEqual({ query, keys: [], fault: undefined })
})

test('parseQuery: keys are removed, also from an invalid query', () => {
  expect(parseQuery('apikey=a&x=%&%61pikey=b&apikey=%')).toMatchObject({ query: [], keys: ['a', 'b', ''] })
})

test('parseQuery: the number of parameters is limited', () => {
  const faults = [MAX_PARAMETERS, MAX_PARAMETERS + 1].map(count => parseQuery('a=1&'.repeat(count)).fault?.kind)
  expect(faults).toEqual([undefined, 'bad_request'])
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
test.each(targets)('targetOf: %s', (url, path, query) => {
  expect(parseTarget(url)).toEqual({ path, query })
})

test('isRoutable: hosts of four characters and more are routable', () => {
  expect(['http://abcd/', 'https://h.example/api'].map(isRoutable)).toEqual([true, true])
  expect(['http://abc/', 'http://a/api', '/api/', 'http:///api'].map(isRoutable)).toEqual([false, false, false, false])
})
