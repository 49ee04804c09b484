import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { bool, defineIndex, hashStart, int, json, keyword, long, optional, places, text } from '#indices/define.ts'
import { type ListedRecord, listedRecords, type RecordDoc, records } from '#indices/record.ts'
import { stateIndices } from '#indices/registry.ts'
import { failureOf } from '#test/support/refusal.ts'
import { type DocSource, decodeDoc, encodeDoc, parseHitDocs, stampText } from './documents.ts'
import { AT } from './mappings.ts'
import { GROUP, KIND, MEMBER, NAMED, VALUE } from './names.ts'

const every = defineIndex({
  name: 'every',
  kind: 'state',
  fields: {
    keyword: keyword(),
    text: text(),
    long: long(),
    int: int(),
    bool: bool(),
    json: json<unknown>(),
    places: places(),
    hash8: hashStart(),
    maybe: optional(long()),
  },
})
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const document = fc.record(
  {
    id: fc.string({ minLength: 1, maxLength: 100 }),
    keyword: fc.string({ unit: 'binary' }),
    text: fc.string({ unit: 'binary' }),
    long: int64,
    int: fc.maxSafeInteger(),
    bool: fc.boolean(),
    json: fc.array(fc.tuple(fc.string(), fc.maxSafeInteger(), fc.boolean())),
    places: fc.array(int64),
    hash8: int64,
    maybe: int64,
  },
  { requiredKeys: ['id', 'keyword', 'text', 'long', 'int', 'bool', 'json', 'places', 'hash8'] },
)

test('encode, decode: any document is read back unchanged', () => {
  fc.assert(
    fc.property(document, doc => {
      const back = decodeDoc(every, doc.id, JSON.parse(stampText(encodeDoc(every, doc), 5)))
      expect<unknown>(back).toEqual(doc)
    }),
  )
})

const strings = { id: 'x', keyword: 'k', text: 't' }
const whole = { ...strings, long: 0n, int: 0, bool: true, json: [], places: [], hash8: 0n }
const refusals: readonly (readonly [string, object, string])[] = [
  ['beyond int64', { long: 2n ** 63n }, "Field 'long' of every 'x' is not a long"],
  ['below int64', { long: -(2n ** 63n) - 1n }, "Field 'long'"],
  ['a number for a long', { long: 1 }, "Field 'long'"],
  ['a place beyond int64', { places: [2n ** 63n] }, "Field 'places'"],
  ['a hash8 beyond int64', { hash8: 2n ** 63n }, "Field 'hash8'"],
  ['an int that is none', { int: 0.5 }, "Field 'int'"],
  ['an int beyond doubles', { int: 2 ** 53 }, "Field 'int'"],
  ['a missing field', { text: undefined }, "Field 'text'"],
  ['a term too long for Lucene', { keyword: 'é'.repeat(16_384) }, "Field 'keyword'"],
  ['an empty id', { id: '' }, "Id '' of every has 0 bytes"],
  ['an id too long', { id: 'é'.repeat(257) }, 'has 514 bytes; it must have 1 to 506 bytes'],
]
test.each(refusals)('encode: refuses %s', async (_, over, message) => {
  const refused = await failureOf(Promise.resolve({ ...whole, ...over }).then(doc => encodeDoc(every, doc)))
  expect([refused.kind, refused.message]).toEqual(['defect', expect.stringContaining(message)])
})

test('decode: a hash8 in the form of earlier versions is read, and one that no search finds is refused', () => {
  const stored = JSON.parse(stampText(encodeDoc(every, whole), 5))
  const read = (hash8: string) => decodeDoc(every, 'x', { ...stored, hash8 }).hash8
  expect(stored.hash8).toBe('hAAAAAAAAAAA')
  expect([read('-42'), read('9223372036854775807')]).toEqual([-42n, 2n ** 63n - 1n])
  for (const unreadable of ['h', 'hAAAAAAAAAA', 'hAAAAAAAAAAB', 'hAAAAAAAAAAAA', 'AAAAAAAAAAA'])
    expect(() => read(unreadable)).toThrow("Field 'hash8'")
})

test('encode: no index has a field with a name reserved by the store', () => {
  const reserved = [AT, KIND, GROUP, VALUE, MEMBER, NAMED]
  expect(stateIndices.filter(({ fields }) => reserved.some(name => name in fields))).toEqual([])
})

const KEYS = [...Object.keys(records.fields), '_id', '_source', 'hits']
/** Texts that look like the surrounding answer. */
const hostile = fc.constantFrom(
  ...KEYS.flatMap(key => [`","${key}":"`, `\\","${key}":`, `"${key}":[`]),
  ...['x",', '\\', '\\\\"', ']}}', '"}},{"_id":"', ',"_source":{"height":1,"tx":2', '["iost","a"]', '\n\u2028'],
)
const someText = fc.oneof(fc.string({ unit: 'binary' }), hostile, fc.array(hostile).map(String))
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const record: fc.Arbitrary<RecordDoc> = fc.record(
  {
    id: fc.tuple(fc.nat(), fc.nat()).map(String),
    ...{ height: count, tx: count, index: count, receipt: count, overflow: fc.boolean() },
    ...{
      tx_hash: someText,
      contract: someText,
      action_name: someText,
      data: someText,
      return: someText,
      status_code: someText,
    },
    ...{ from: someText, to: someText, amount: someText, creator: someText, deployed: someText },
    time: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    places: fc.array(fc.bigInt({ min: 0n, max: 2n ** 53n })),
  },
  {
    requiredKeys: [
      ...(['id', 'height', 'tx', 'index', 'overflow', 'tx_hash', 'contract', 'action_name', 'data'] as const),
      ...(['return', 'status_code', 'from', 'to', 'time', 'places'] as const),
    ],
  },
)

const answerOf = (sources: readonly (readonly [id: string, source: string])[]): string =>
  `{"took":3,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"max_score":1.0,"hits":[${sources
    .map(([id, source]) => `{"_index":"a-records-000000","_id":"${id}","_score":1.0,"_source":${source}}`)
    .join(',')}]}}`

test('documents of hits: any documents are read as from parsed JSON', () => {
  fc.assert(
    fc.property(fc.array(record), docs => {
      const sources = docs.map(doc => [doc.id, encodeDoc(records, doc)] as const)
      const parsed = sources.map(([id, source]) => decodeDoc(listedRecords, id, JSON.parse(source) as DocSource))
      expect(parseHitDocs(listedRecords, answerOf(sources))).toEqual(parsed)
    }),
    { numRuns: 500 },
  )
})

const row: RecordDoc = {
  ...{ id: '1', height: 1, tx: 2, index: 3, tx_hash: 'h', time: 4n, contract: 'c', action_name: 'a' },
  ...{ data: '[]', return: '', status_code: 'SUCCESS', from: 'f', to: 't', overflow: false, places: [5n] },
}
const source = encodeDoc(records, row)
const readHit = (changed: string): readonly ListedRecord[] | undefined =>
  parseHitDocs(listedRecords, answerOf([['1', changed]]))

test('documents of hits: hits written in another form are left to the JSON parser', () => {
  expect(readHit(source)).toHaveLength(1)
  const others: readonly (readonly [string, string])[] = [
    ['"height":1', '"height": 1'],
    ['"height":1', '"height":1.0'],
    ['"height":1', '"height":1e2'],
    ['"height":1,"tx":2', '"tx":2,"height":1'],
    ['"tx":2,', ''],
    ['"tx_hash":"h"', '"tx_hash":null'],
    ['"tx_hash":"h"', '"tx_hash":7'],
    ['"time":"4"', '"time":4'],
    ['"time":"4"', '"time":"4x"'],
    ['"overflow":false', '"overflow":"false"'],
    ['"overflow":false', '"overflow":falsehood'],
    [',"overflow":false', ',"other":1,"overflow":false'],
  ]
  for (const [from, to] of others) {
    expect(source).toContain(from)
    expect([to, readHit(source.replace(from, to))]).toEqual([to, undefined])
  }
  const whole = answerOf([['1', source]])
  const wholes = [whole.slice(0, -1), `${whole} `, whole.replace('"hits":[', '"other":['), '{}', '']
  for (const each of wholes) expect(parseHitDocs(listedRecords, each)).toBeUndefined()
  expect(parseHitDocs(listedRecords, answerOf([]))).toEqual([])
})
