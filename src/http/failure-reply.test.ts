import { expect, test } from 'bun:test'
import { successText } from '#actions/answer.ts'
import { Exact } from '#chain/json.ts'
import { Failure, type FailureKind, PublicFailure, toFailure } from '#failure/failure.ts'
import { failureReply } from './failure-reply.ts'

const bodyOf = (failure: Failure, lang: 'en' | 'zh' = 'en', format: 'envelope' | 'bare' = 'envelope') =>
  JSON.parse(String(failureReply(failure, { lang, format, secrets: [] }, 'r1').body))

test('successText: digits are kept, in the envelope or without it', () => {
  const data = { balance: new Exact('9007199254740993.000000001'), n: 1 }
  const options = { format: 'envelope', numbers: 'number' } as const
  expect(successText(data, options)).toBe(
    '{"code":0,"message":"OK","data":{"balance":9007199254740993.000000001,"n":1}}',
  )
  expect(successText(data, { format: 'bare', numbers: 'string' })).toBe(
    '{"balance":"9007199254740993.000000001","n":1}',
  )
})

test('failureReply: both forms and languages have status, code, message and request id', () => {
  const failure = new Failure('not_found', "Account 'a' is not known.", { zh: '账户不存在。' })
  expect(failureReply(failure, { lang: 'en', format: 'envelope', secrets: [] }, 'r1')).toEqual({
    status: 404,
    type: 'application/json; charset=utf-8',
    body: '{"code":4040,"message":"Account \'a\' is not known.","data":{},"request_id":"r1"}',
    headers: { 'Cache-Control': 'no-store', 'Content-Language': 'en' },
    form: 'raw',
  })
  expect(bodyOf(failure, 'zh', 'bare')).toEqual({ code: 4040, message: '账户不存在。', request_id: 'r1' })
})

test('failureReply: internal details are not exposed', () => {
  const message = (kind: FailureKind, zh?: string) =>
    bodyOf(new Failure(kind, 'http://10.0.0.1:9200 refused', zh === undefined ? {} : { zh })).message
  for (const kind of ['defect', 'usage'] as const) expect(message(kind, 'x')).toBe('Internal error.')
  expect(message('bad_block', 'x')).toBe('The node returned an invalid response.')
  expect(message('unavailable')).toBe('Temporarily unavailable; try again later.')
  expect(message('deadline')).toBe('The request took too long.')
  expect(message('unavailable', '没有可用的全节点。')).toBe('Temporarily unavailable; try again later.')
  expect(bodyOf(new PublicFailure('unavailable', 'Come back.')).message).toBe('Come back.')
  expect(bodyOf(toFailure(new TypeError('secret')))).toEqual({
    code: 5000,
    message: 'Internal error.',
    data: {},
    request_id: 'r1',
  })
})

test('failureReply: the retry time and the allowed methods are included', () => {
  const headers = (failure: Failure) =>
    failureReply(failure, { lang: 'en', format: 'bare', secrets: [] }, 'r1').headers as Record<string, string>
  expect(headers(new Failure('unavailable', 'x'))['Retry-After']).toBe('5')
  expect(headers(new Failure('unavailable', 'x', { details: { retryAfter: 60 } }))['Retry-After']).toBe('60')
  expect(headers(new Failure('method_not_allowed', 'x'))).toMatchObject({ Allow: 'GET, HEAD, OPTIONS' })
})

test('failureReply: a key in any parameter is not repeated', () => {
  const failure = new Failure('bad_request', "Parameter 'page' is 'il_secretsecret'.", {
    zh: "参数 'il_secretsecret'",
  })
  const message = (lang: 'en' | 'zh') =>
    String(failureReply(failure, { lang, format: 'bare', secrets: ['il_secretsecret', 'is'] }, 'r1').body)
  expect(message('en')).toBe(`{"code":4000,"message":"Parameter 'page' is '***'.","request_id":"r1"}`)
  expect(message('zh')).toBe(`{"code":4000,"message":"参数 '***'","request_id":"r1"}`)
})

test('failureReply: the beginning of a key in a cut text is not repeated', () => {
  const told = (message: string) =>
    (
      JSON.parse(
        String(
          failureReply(
            new Failure('bad_request', message),
            { lang: 'en', format: 'bare', secrets: ['a shared key'] },
            'r1',
          ).body,
        ),
      ) as { message: string }
    ).message
  expect(told("It is 'xxxa shared k…' or 'a sha…'.")).toBe("It is 'xxx***…' or '***…'.")
  expect(told("It is 'a sh…' or 'xa s…', 'a shy…'.")).toBe("It is '***…' or 'xa s…', 'a shy…'.")
})
