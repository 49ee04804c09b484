import { expect, test } from 'bun:test'
import { successText } from '#actions/answer.ts'
import { Exact } from '#chain/json.ts'
import { Failure, type FailureKind, PublicFailure, toFailure } from '#failure/failure.ts'
import { codes } from './codes.ts'
import { acceptsGzip, computeEtag, failureReply, matchingTag, toGzipEtag } from './reply.ts'

const bytes = new TextEncoder().encode('{"code":0}')

test('ETags: the tag is strong, and equal only for equal bytes', () => {
  expect(computeEtag(bytes)).toMatch(/^"[\w-]{22}"$/)
  expect(computeEtag(bytes)).toBe(computeEtag(bytes.slice()))
  expect(computeEtag(bytes)).not.toBe(computeEtag(new TextEncoder().encode('{"code":1}')))
  expect(toGzipEtag('"abc"')).toBe('"abc-gzip"')
})

const PLAIN = '"abc"'
const GZIP = '"abc-gzip"'
const headers: readonly (readonly [header: string, sent: string, known: string | undefined])[] = [
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
]
test.each(headers)('matchingTag: %s for %s', (header, sent, known) => {
  expect(matchingTag(header, sent, PLAIN)).toBe(known)
})

const codings: readonly (readonly [header: string, gzip: boolean])[] = [
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
]
test.each(codings)('acceptsGzip: %s', (header, gzip) => {
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
  expect(successText(data, { format: 'envelope', numbers: 'number' })).toBe(
    '{"code":0,"message":"OK","data":{"balance":9007199254740993.000000001,"n":1}}',
  )
  expect(successText(data, { format: 'bare', numbers: 'string' })).toBe(
    '{"balance":"9007199254740993.000000001","n":1}',
  )
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
