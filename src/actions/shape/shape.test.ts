import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { writeJson } from '#chain/json.ts'
import type { RecordDoc } from '#indices/record.ts'
import type { View } from '#store/port.ts'
import type { NumberedRecord } from '../find/numbered.ts'
import { rowsValue } from '../list/paging.ts'
import { shownRecords } from './records.ts'
import { transactionObject } from './transaction-answer.ts'
import { plainNumber, toDouble, toIost } from './values.ts'

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

test('rows: data stays in its own row whatever the other texts are', async () => {
  const look = '"data":""'
  const numbered = [look, '[1]', `["${'\\"data\\":\\"\\"'}"]`].map((data, at) => ({
    seq: at + 1,
    doc: { ...record(data), action_name: look, from: `,${look}`, return: `\\${look}` },
  }))
  const rows = await shownValue(numbered, { contract: 'always', compat: 'none' })
  const answered = JSON.parse(writeJson(rows)) as readonly Record<string, unknown>[]
  expect(answered.map(row => row['data'])).toEqual([[look], [1], [look]])
  for (const row of answered)
    expect([row['action_name'], row['from'], row['return']]).toEqual([look, `,${look}`, `\\${look}`])
})

test('rows: created_at is cut to milliseconds, block is text, and contract is present only where documented', async () => {
  const plain = await shownValue([{ seq: 7, doc: record('[]') }], { contract: 'compat', compat: 'none' })
  expect(writeJson(plain)).toBe(
    '[{"seq":7,"action_name":"receipt","data":[],"block":"1","tx_hash":"h","from":"a","to":"b","created_at":"2026-11-21T08:12:13.999Z","index":0,"return":"","status_code":"SUCCESS"}]',
  )
  const always = await shownValue([{ seq: 7, doc: record('[]') }], { contract: 'always', compat: 'none' })
  expect(writeJson(always)).toContain('[{"seq":7,"contract":"system.iost",')
  const compat = await shownValue([{ seq: 7, doc: record('[]') }], {
    contract: 'compat',
    compat: 'iostabc',
  })
  expect(JSON.parse(writeJson(compat))[0]).not.toHaveProperty('seq')
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

test('toIost: all digits of an int64 are kept', () => {
  expect(toIost(2n ** 63n - 1n).text).toBe('92233720368.54775807')
})
