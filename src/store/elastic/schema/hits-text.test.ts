import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type ListedRecord, listedRecords, type RecordDoc, records } from '#indices/record.ts'
import { type DocSource, decodeDoc, encodeDoc, parseHitDocs } from './documents.ts'

const KEYS = [...Object.keys(records.fields), '_id', '_source', 'hits']
/** Texts that look like the surrounding answer. */
const hostile = fc.constantFrom(
  ...KEYS.flatMap(key => [`","${key}":"`, `\\","${key}":`, `"${key}":[`]),
  ...['x",', '\\', '\\\\"', ']}}', '"}},{"_id":"', ',"_source":{"height":1,"tx":2', '["iost","a"]', '\n\u2028'],
)
const text = fc.oneof(fc.string({ unit: 'binary' }), hostile, fc.array(hostile).map(String))
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const record: fc.Arbitrary<RecordDoc> = fc.record(
  {
    id: fc.tuple(fc.nat(), fc.nat()).map(String),
    ...{ height: count, tx: count, index: count, receipt: count, overflow: fc.boolean() },
    ...{ tx_hash: text, contract: text, action_name: text, data: text, return: text, status_code: text },
    ...{ from: text, to: text, amount: text, creator: text, deployed: text },
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

const doc: RecordDoc = {
  ...{ id: '1', height: 1, tx: 2, index: 3, tx_hash: 'h', time: 4n, contract: 'c', action_name: 'a' },
  ...{ data: '[]', return: '', status_code: 'SUCCESS', from: 'f', to: 't', overflow: false, places: [5n] },
}
const source = encodeDoc(records, doc)
const read = (changed: string): readonly ListedRecord[] | undefined =>
  parseHitDocs(listedRecords, answerOf([['1', changed]]))

test('documents of hits: hits written in another form are left to the JSON parser', () => {
  expect(read(source)).toHaveLength(1)
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
    expect([to, read(source.replace(from, to))]).toEqual([to, undefined])
  }
  const whole = answerOf([['1', source]])
  const wholes = [whole.slice(0, -1), `${whole} `, whole.replace('"hits":[', '"other":['), '{}', '']
  for (const each of wholes) expect(parseHitDocs(listedRecords, each)).toBeUndefined()
  expect(parseHitDocs(listedRecords, answerOf([]))).toEqual([])
})
