import { expect, test } from 'bun:test'
import type { Query } from '#actions/request/query.ts'
import { linkHeader } from './api.ts'

const taken = new Set(['module', 'account', 'page', 'size', 'sort'])
const KEY = 'il_0123456789abcdefABCDEF0123456789'
const pagesIn = (header: string) =>
  Object.fromEntries(
    header.split(', ').map(link => {
      const [, reference = '', relation = ''] = /^<(\?[^>]*)>; rel="(\w+)"$/.exec(link) ?? []
      return [relation, new URLSearchParams(reference).get('page')]
    }),
  )
const pages = (page: bigint, size: number, total: number) =>
  pagesIn(linkHeader([['size', String(size)]], { page, size, total }, { taken, secrets: [] }))

test.each<readonly [bigint, number, number, Readonly<Record<string, string>>]>([
  [1n, 20, 0, { first: '1', last: '1' }],
  [1n, 20, 20, { first: '1', last: '1' }],
  [1n, 20, 21, { first: '1', next: '2', last: '2' }],
  [2n, 20, 41, { first: '1', prev: '1', next: '3', last: '3' }],
  [3n, 20, 41, { first: '1', prev: '2', last: '3' }],
  [4n, 20, 41, { first: '1', prev: '3', last: '3' }],
  [9_999_999_999_999_999_999n, 20, 41, { first: '1', prev: '3', last: '3' }],
  [7n, 20, 0, { first: '1', prev: '1', last: '1' }],
  [1n, 1, 4_294_967_295, { first: '1', next: '2', last: '4294967295' }],
])('linkHeader: page %s of %s rows each, %s in all', (...given) => {
  const [page, size, total, expected] = given
  expect(pages(page, size, total)).toEqual(expected)
})

test('linkHeader: parameters keep their order and characters, and page keeps its position', () => {
  const query: Query = [
    ['module', 'account'],
    ['page', '0'],
    ['account', 'a b+c&d=é,%>"'],
    ['_', '17'],
  ]
  expect(linkHeader(query, { page: 1n, size: 1, total: 1 }, { taken, secrets: [KEY] })).toBe(
    '<?module=account&page=1&account=a%20b%2Bc%26d%3D%C3%A9%2C%25%3E%22&_=17>; rel="first", ' +
      '<?module=account&page=1&account=a%20b%2Bc%26d%3D%C3%A9%2C%25%3E%22&_=17>; rel="last"',
  )
})

test('linkHeader: the key, in any parameter, and long unused texts are left out', () => {
  const query: Query = [
    ['account', 'admin'],
    ['_', KEY],
    [`x${KEY}`, ''],
    ['api_key', 'il_anotherKey1234567890'],
    ['t', 'x'.repeat(127)],
    ['key', `a ${KEY} b`],
    ['timestamp', '5'],
    ['code', 'short'],
  ]
  expect(linkHeader(query, { page: 1n, size: 1, total: 1 }, { taken, secrets: [KEY, 'short', ''] })).toBe(
    '<?account=admin&timestamp=5&page=1>; rel="first", <?account=admin&timestamp=5&page=1>; rel="last"',
  )
})

test('linkHeader: of many unused texts as many are kept as a proxy accepts, whatever escapes they need', () => {
  const many: Query = Array.from({ length: 300 }, (_, at) => [`u${at}`, at % 2 === 0 ? '区块' : 'x'.repeat(100)])
  const header = linkHeader(
    [['account', 'admin'], ...many, ['size', '5']],
    { page: 2n, size: 5, total: 100 },
    { taken, secrets: [] },
  )
  expect(header).toContain('account=admin&u0=')
  expect(header).toContain('&size=5&page=3>; rel="next"')
  expect(header.length).toBeLessThan(2_600)
})
