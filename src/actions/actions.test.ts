import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { writeJson } from '#chain/json.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { View } from '#store/port.ts'
import { createAnswerCache, holdPermit, type Permit } from './answer.ts'
import { prefetchResults } from './export.ts'
import { rowsValue } from './find/listing.ts'
import type { NumberedRecord } from './find/numbered.ts'
import { transactionObject } from './get-transaction.ts'
import { readOptions, selectLanguage } from './request/options.ts'
import { findNearest, quoteGiven } from './request/refusals.ts'
import { shownRecords } from './shape/records.ts'
import { plainNumber, toDouble } from './shape/values.ts'

test('holdPermit: a permit is released when the work ends or fails', async () => {
  let taken = 0
  const acquire = async (): Promise<Permit> => {
    taken += 1
    return {
      waitForNode: ask => ask(),
      waitAfterRead: ask => ask(),
      leave: () => {
        taken -= 1
      },
    }
  }
  expect(await holdPermit(acquire, async () => taken)).toBe(1)
  expect(taken).toBe(0)
  await expect(holdPermit(acquire, () => Promise.reject(new Error('x')))).rejects.toThrow('x')
  expect(taken).toBe(0)
})

test('shared answers: a call that waits for an equal one is released when it is over itself', async () => {
  const kept = createAnswerCache<{ readonly text: string }>({ maxCharacters: 100_000, onAnswer: () => undefined })
  const [edition, client] = [{}, new AbortController()]
  const [first, second] = [kept.begin(), kept.begin()]
  expect(await first.find(edition, 'page')).toBeUndefined()
  const waiting = second.find(edition, 'page', client.signal)
  client.abort(new Error('gone'))
  first.put({ text: 'answer' })
  first.end()
  await expect(waiting).rejects.toThrow('gone')
  second.end()
  expect(await kept.begin().find(edition, 'page')).toEqual({ text: 'answer' })
})

function jobs(count: number, most: number) {
  const ends: PromiseWithResolvers<number>[] = []
  const results = prefetchResults({ count, most }, () => {
    const end = Promise.withResolvers<number>()
    ends.push(end)
    return end.promise
  })
  return { results, ends }
}

test('results read ahead: they come in order whatever order they finish in, with no more running than allowed', async () => {
  const { results, ends } = jobs(5, 2)
  expect(ends.length).toBe(0)
  const got: number[] = []
  for (let job = 0; job < 5; job++) {
    const next = results.next()
    expect(ends.length).toBe(Math.min(5, job + 3))
    for (const [at, end] of [...ends.entries()].toReversed()) end.resolve(at)
    const { value } = await next
    got.push(value as number)
    // The next job starts only when the next result is requested.
    expect(ends.length).toBe(Math.min(5, job + 3))
  }
  expect(got).toEqual([0, 1, 2, 3, 4])
  expect(await results.next()).toEqual({ done: true, value: undefined })
})

test('results read ahead: a failed item ends the iteration in its turn, after the items before it', async () => {
  const { results, ends } = jobs(4, 2)
  const first = results.next()
  ends[1]?.reject(new Error('of a test'))
  ends[0]?.resolve(7)
  expect(await first).toEqual({ done: false, value: 7 })
  expect(results.next()).rejects.toThrow('of a test')
  expect(await results.next()).toEqual({ done: true, value: undefined })
  // The job that was already started is not cancelled.
  expect(ends.length).toBe(4)
  ends[2]?.reject(new Error('that nobody waits for'))
})

test('results read ahead: a caller that leaves early does not wait', async () => {
  const { results, ends } = jobs(9, 2)
  const first = results.next()
  ends[0]?.resolve(0)
  await first
  expect(await results.return()).toEqual({ done: true, value: undefined })
  ends[1]?.reject(new Error('that nobody waits for'))
})

test('readOptions: the request overrides the defaults of the server', () => {
  const defaults = { format: 'bare', compat: 'iostabc' } as const
  expect(readOptions([], { defaults })).toEqual({ ...defaults, lang: 'en', numbers: 'number' })
  const asked = { lang: 'zh', format: 'envelope', compat: 'none', numbers: 'string' } as const
  expect(readOptions(Object.entries(asked), { defaults })).toEqual(asked)
})

test.each<readonly [string | undefined, 'en' | 'zh', lang?: string]>([
  [undefined, 'en'],
  ['', 'en'],
  ['zh', 'zh'],
  ['zh-CN,zh;q=0.9,en;q=0.8', 'zh'],
  ['en-US,en;q=0.9,zh;q=0.8', 'en'],
  ['en;q=0.5, zh;q=0.6', 'zh'],
  ['fr-FR, zh-Hans;q=0.4', 'zh'],
  ['fr, *;q=0.1', 'en'],
  ['zh;q=0', 'en'],
  ['zh;q=abc', 'en'],
  ['zhx', 'en'],
  ['ZH-tw', 'zh'],
  // A usable lang in the query takes precedence, an unusable one is ignored.
  ['zh', 'en', 'en'],
  ['zh', 'zh', 'fr'],
])('selectLanguage: Accept-Language %p is %p', (...[header, expected, lang]) => {
  expect(selectLanguage(lang === undefined ? [] : [['lang', lang]], header)).toBe(expected)
})

test.each([
  ['admin', "'admin'"],
  ['', "''"],
  ['a\nb\u0000', "'a\\u{a}b\\u{0}'"],
  ['\u202Ex\u2028', "'\\u{202e}x\\u{2028}'"],
  ['\uD800', "'\\u{d800}'"],
  ['😀'.repeat(70), `'${'😀'.repeat(64)}…'`],
  ['x'.repeat(64), `'${'x'.repeat(64)}'`],
  ['x'.repeat(65), `'${'x'.repeat(64)}…'`],
  ['x'.repeat(100_000), `'${'x'.repeat(64)}…'`],
  [`https://user:${'p'.repeat(500)}@host/path`, "'https://***@host/path'"],
  [`a=1&apikey=${'k'.repeat(500)}`, "'a=1&apikey=***'"],
  [`${'x'.repeat(60)}il_${'k'.repeat(500)}`, `'${'x'.repeat(60)}***'`],
])('quoteGiven: %j', (text, expected) => {
  expect(quoteGiven(text)).toBe(expected)
})

test('findNearest: the name with the fewest edits is chosen, ignoring case, the first one of equals, at most one edit in three letters', () => {
  expect(findNearest('PAGES', ['size', 'page'])).toBe('page')
  expect(findNearest('xb', ['ab', 'cb'])).toBe('ab')
  expect(findNearest('xx', ['ab', 'cd'])).toBeUndefined()
  expect(findNearest('offset', ['page', 'size'])).toBeUndefined()
  expect(findNearest('tls-cert', ['test-key'])).toBeUndefined()
  expect(findNearest('x', [])).toBeUndefined()
  expect(findNearest(`page${'y'.repeat(1_000_000)}`, ['page', 'size'])).toBeUndefined()
})

const record = (data: string): RecordDoc => ({
  ...{ id: '1', height: 1, tx: 1, index: 0, tx_hash: 'h', time: 1_795_248_733_999_999_999n },
  ...{ contract: 'system.iost', action_name: 'receipt', data, return: '', status_code: 'SUCCESS' },
  ...{ from: 'a', to: 'b', overflow: false, places: [] },
})
const view = {} as View
type Shown = Parameters<typeof shownRecords>[0]
const shownValue = async (numbered: readonly NumberedRecord[], shown: Shown): Promise<unknown> =>
  rowsValue(await shownRecords(shown).rows(view, numbered))
async function dataOf(data: string, compat: 'none' | 'iostabc') {
  const rows = await shownValue([{ seq: 1, doc: record(data) }], { contract: 'compat', compat })
  return /"data":(.*),"block"/.exec(writeJson(rows))?.[1]
}

test.each([
  ['["a", 1]', '["a", 1]'],
  ['[9223372036854775807,1.10,1e400]', '[9223372036854775807,1.10,1e400]'],
  ['[]', '[]'],
  ['', '[""]'],
  ['free text', '["free text"]'],
  ['{"a":1}', '["{\\"a\\":1}"]'],
  ['"[1]"', '["\\"[1]\\""]'],
  ['[1,]', '["[1,]"]'],
  ['[1] x', '["[1] x"]'],
])('a row: data %j', async (data, shown) => {
  expect(await dataOf(data, 'none')).toBe(shown)
  expect(await dataOf(data, 'iostabc')).toBe(JSON.stringify(data))
})

test('a row: the facts of a movement are those that the chain reads, without the text after the arguments', async () => {
  const doc = { ...record('["iost","a","b","1","gift"] x'), action_name: 'transfer', amount: '1' }
  const [row] = JSON.parse(writeJson(await shownValue([{ seq: 1, doc }], { contract: 'always', compat: 'none' })))
  expect([row.token, row.memo, row.data]).toEqual(['iost', 'gift', [doc.data]])
})

test('transactionObject: names such as 12345 and __proto__ keep their place and value', () => {
  const body =
    '{"hash":"h","delay":"5","expiration":"9223372036854775807","gas_ratio":1.01,"gas_limit":1e6,"tx_receipt":{"gas_usage":1e-2,"ram_usage":{"user_003":"149","12345":"-67","__proto__":"1"},"returns":["[\\"<\\u003c\\"]"]}}'
  expect(writeJson(transactionObject(body))).toBe(
    '{"hash":"h","delay":5,"expiration":9223372036854775807,"gas_ratio":1.01,"gas_limit":1000000,"tx_receipt":{"gas_usage":0.01,"ram_usage":{"user_003":"149","12345":"-67","__proto__":"1"},"returns":["[\\"<\\u003c\\"]"]}}',
  )
  expect(writeJson(transactionObject(body), { numbers: 'string' })).toContain(
    '"delay":"5","expiration":"9223372036854775807","gas_ratio":"1.01","gas_limit":"1000000","tx_receipt":{"gas_usage":"0.01"',
  )
})

test.each([
  ['1e-7', '0.0000001'],
  ['1.5e-7', '0.00000015'],
  ['1e+21', '1000000000000000000000'],
  ['-2.50E3', '-2500'],
  ['1.25e1', '12.5'],
  ['0e5', '0'],
  ['12.5', '12.5'],
  ['text', 'text'],
])('plainNumber: %s is %s', (text, expected) => {
  expect(plainNumber(text)).toBe(expected)
})

test('toDouble: every finite double keeps its value and has no exponent', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value => {
      const { text } = toDouble(value)
      return /^-?\d+(?:\.\d+)?$/.test(text) && Number(text) === value
    }),
  )
})
