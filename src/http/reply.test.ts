import { expect, test } from 'bun:test'
import { successText } from '#actions/answer.ts'
import type { Query } from '#actions/request/query.ts'
import { Exact } from '#chain/json.ts'
import { Failure, type FailureKind, PublicFailure, toFailure } from '#failure/failure.ts'
import { linkHeader } from './api.ts'
import { codes } from './codes.ts'
import { acceptsGzip, computeEtag, failureReply, matchingTag, toGzipEtag } from './reply.ts'

test('ETags: the tag is strong, and equal only for equal bytes', () => {
  const [one, two] = ['{"code":0}', '{"code":1}'].map(text => computeEtag(new TextEncoder().encode(text)))
  expect([one, one === two, toGzipEtag('"abc"')]).toEqual([expect.stringMatching(/^"[\w-]{22}"$/), false, GZIP])
})

const PLAIN = '"abc"'
const GZIP = '"abc-gzip"'
test.each<readonly [header: string, sent: string, known: string | undefined]>([
  ['', PLAIN, undefined],
  [PLAIN, PLAIN, PLAIN],
  ['W/"abc"', PLAIN, PLAIN],
  [GZIP, PLAIN, GZIP],
  [GZIP, GZIP, GZIP],
  [PLAIN, GZIP, PLAIN],
  [`${PLAIN}, ${GZIP}`, GZIP, GZIP],
  [`${GZIP}, ${PLAIN}`, PLAIN, PLAIN],
  ['*', PLAIN, PLAIN],
  [' * ', GZIP, GZIP],
  ['"x", "abc"', PLAIN, PLAIN],
  ['"x",W/"abc" , "y"', PLAIN, PLAIN],
  ['"a,b", "c"', PLAIN, undefined],
  ['"x,"abc"', PLAIN, undefined],
  ['abc', PLAIN, undefined],
  ['"ABC"', PLAIN, undefined],
  ['"abc', PLAIN, undefined],
])('matchingTag: %s for %s', (header, sent, known) => {
  expect(matchingTag(header, sent, PLAIN)).toBe(known)
})

test.each([
  ['', false],
  ['gzip', true],
  ['GZIP', true],
  ['deflate, gzip;q=1.0, *;q=0.5', true],
  ['gzip;q=0', false],
  ['gzip;q=0, *', false],
  ['*', true],
  ['*;q=0', false],
  ['br', false],
  ['gzip;q=x', false],
])('acceptsGzip: %s', (header, gzip) => {
  expect(acceptsGzip(header)).toBe(gzip)
})

test('codes: the numbers are stable, and every title is in both languages', () => {
  const numbers = Object.entries(codes).map(([kind, { status, code }]) => `${kind} ${status} ${code}`)
  expect(numbers.toSorted()).toEqual([
    ...['bad_block 503 5032', 'bad_request 400 4000', 'conflict 503 5030', 'damaged 503 5033', 'deadline 504 5040'],
    ...['defect 500 5000', 'forbidden 403 4030', 'loading 503 5031', 'method_not_allowed 405 4050'],
    ...['not_found 404 4040', 'rate_limited 429 4290', 'replaced 409 4090', 'unauthorized 401 4010'],
    ...['unavailable 503 5030', 'uri_too_long 414 4140', 'usage 500 5000'],
  ])
  for (const { title } of Object.values(codes))
    expect([title.en, title.zh]).toEqual([expect.stringMatching(/^[A-Z].*\.$/), expect.stringMatching(/。$/)])
})

test('successText: digits are kept, in the envelope or without it', () => {
  const data = { balance: new Exact('9007199254740993.000000001'), n: 1 }
  const text = '{"balance":9007199254740993.000000001,"n":1}'
  const enveloped = `{"code":0,"message":"OK","data":${text}}`
  expect(successText(data, { format: 'envelope', numbers: 'number' })).toBe(enveloped)
  expect(successText(data, { format: 'bare', numbers: 'string' })).toBe(text.replace(/[\d.]{9,}/, '"$&"'))
})

const buildReply = (failure: Failure, secrets: readonly string[] = [], lang: 'en' | 'zh' = 'en') =>
  failureReply(failure, { lang, format: 'bare', secrets }, 'r1')

const readMessage = (...asked: Parameters<typeof buildReply>): string =>
  JSON.parse(String(buildReply(...asked).body)).message

test('failureReply: internal details are not exposed', () => {
  const inner = (kind: FailureKind, zh?: string) =>
    readMessage(new Failure(kind, 'http://10.0.0.1:9200 refused', zh === undefined ? {} : { zh }))
  for (const kind of ['defect', 'usage'] as const) expect(inner(kind, 'x')).toBe('Internal error.')
  expect(inner('bad_block', 'x')).toBe('The node returned an invalid response.')
  expect(inner('unavailable')).toBe('Temporarily unavailable; try again later.')
  expect(inner('deadline')).toBe('The request took too long.')
  expect(inner('unavailable', '没有可用的全节点。')).toBe('Temporarily unavailable; try again later.')
  expect(readMessage(new PublicFailure('unavailable', 'Come back.'))).toBe('Come back.')
  expect(readMessage(toFailure(new TypeError('secret')))).toBe('Internal error.')
})

test('failureReply: the retry time is included, and no cache keeps a failure', () => {
  expect(buildReply(new Failure('unavailable', 'x')).headers).toEqual({
    'Cache-Control': 'no-store',
    'Content-Language': 'en',
    'Retry-After': '5',
  })
  const later = new Failure('unavailable', 'x', { details: { retryAfter: 60 } })
  expect(buildReply(later).headers).toMatchObject({ 'Retry-After': '60' })
})

test('failureReply: a key in any parameter, or its beginning in a cut text, is not repeated', () => {
  const whole = new Failure('bad_request', "Parameter 'page' is 'il_secretsecret'.", { zh: "参数 'il_secretsecret'" })
  const secrets = ['il_secretsecret', 'is']
  expect(readMessage(whole, secrets)).toBe("Parameter 'page' is '***'.")
  expect(readMessage(whole, secrets, 'zh')).toBe("参数 '***'")
  const cut = (message: string) => readMessage(new Failure('bad_request', message), ['a shared key'])
  expect(cut("It is 'xxxa shared k…' or 'a sha…'.")).toBe("It is 'xxx***…' or '***…'.")
  expect(cut("It is 'a sh…' or 'xa s…', 'a shy…'.")).toBe("It is '***…' or 'xa s…', 'a shy…'.")
})

const taken = new Set(['module', 'account', 'page', 'size', 'sort'])
const KEY = 'il_0123456789abcdefABCDEF0123456789'
const ONE = { page: 1n, size: 1, total: 1 }

test.each<readonly [page: bigint, size: number, total: number, links: readonly string[]]>([
  [1n, 20, 0, ['first 1', 'last 1']],
  [1n, 20, 20, ['first 1', 'last 1']],
  [1n, 20, 21, ['first 1', 'next 2', 'last 2']],
  [2n, 20, 41, ['first 1', 'prev 1', 'next 3', 'last 3']],
  [3n, 20, 41, ['first 1', 'prev 2', 'last 3']],
  [4n, 20, 41, ['first 1', 'prev 3', 'last 3']],
  [9_999_999_999_999_999_999n, 20, 41, ['first 1', 'prev 3', 'last 3']],
  [7n, 20, 0, ['first 1', 'prev 1', 'last 1']],
  [1n, 1, 4_294_967_295, ['first 1', 'next 2', 'last 4294967295']],
])('linkHeader: page %s of %s rows each, %s in all', (...given) => {
  const [page, size, total, links] = given
  const header = linkHeader([['a', '5']], { page, size, total }, { taken, secrets: [] })
  expect([...header.matchAll(/<\?a=5&page=(\d+)>; rel="(\w+)"/g)].map(([, at, to]) => `${to} ${at}`)).toEqual([
    ...links,
  ])
})

test('linkHeader: parameters keep their order and characters, and page keeps its position', () => {
  const query = [...new URLSearchParams('module=account&page=0&account=a b%2Bc%26d%3Dé,%25>"&_=17')]
  const link = '<?module=account&page=1&account=a%20b%2Bc%26d%3D%C3%A9%2C%25%3E%22&_=17>'
  expect(linkHeader(query, ONE, { taken, secrets: [KEY] })).toBe(`${link}; rel="first", ${link}; rel="last"`)
})

test('linkHeader: the key, in any parameter, and long unused texts are left out', () => {
  const texts = `account=admin&_=${KEY}&x${KEY}=&api_key=il_anotherKey1234567890&t=${'x'.repeat(127)}&key=a ${KEY} b`
  const query = [...new URLSearchParams(`${texts}&timestamp=5&code=short`)]
  const link = '<?account=admin&timestamp=5&page=1>'
  expect(linkHeader(query, ONE, { taken, secrets: [KEY, 'short', ''] })).toBe(
    `${link}; rel="first", ${link}; rel="last"`,
  )
})

test('linkHeader: of many unused texts as many are kept as a proxy accepts, whatever escapes they need', () => {
  const many: Query = Array.from({ length: 300 }, (_, at) => [`u${at}`, at % 2 === 0 ? '区块' : 'x'.repeat(100)])
  const query: Query = [['account', 'admin'], ...many, ['size', '5']]
  const header = linkHeader(query, { page: 2n, size: 5, total: 100 }, { taken, secrets: [] })
  expect(header).toContain('account=admin&u0=')
  expect(header).toContain('&size=5&page=3>; rel="next"')
  expect(header.length).toBeLessThan(2_600)
})
