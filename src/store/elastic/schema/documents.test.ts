import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { bool, defineIndex, hashStart, int, json, keyword, long, optional, places, text } from '#indices/define.ts'
import { stateIndices } from '#indices/registry.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { decodeDoc, encodeDoc, stampText } from './documents.ts'
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

const whole = {
  id: 'x',
  keyword: 'k',
  text: 't',
  long: 0n,
  int: 0,
  bool: true,
  json: [],
  places: [],
  hash8: 0n,
}
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
for (const [name, over, message] of refusals)
  test(`encode: refuses ${name}`, async () => {
    const refused = await failureOf(Promise.resolve({ ...whole, ...over }).then(doc => encodeDoc(every, doc)))
    expect(refused.kind).toBe('defect')
    expect(refused.message).toContain(message)
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
