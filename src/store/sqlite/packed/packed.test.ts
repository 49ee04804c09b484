import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { oddTexts } from '#test/store/suite/fixture.ts'
import { DICTIONARY_1 } from './dictionary-1.ts'
import { packText, unpackText } from './text.ts'
import { findWordNumber, packDigits, unpackDigits, WORDS } from './values.ts'

const BODY =
  '{"hash":"ArrByG9F3YSjLr3UZhHEyiT8VQonZfxmY53DjnzedDVL","time":"1795247406277000000","expiration":"1795247486277000000","gas_ratio":1,"gas_limit":300000,"delay":"0","chain_id":1020,"actions":[{"contract":"token.iost","action_name":"transfer","data":"[\\"iost\\",\\"alice\\",\\"bob\\",\\"2.3\\",\\"\\"]"}],"signers":[],"publisher":"alice","referred_tx":"","amount_limit":[{"token":"*","value":"unlimited"}],"tx_receipt":{"tx_hash":"ArrByG9F3YSjLr3UZhHEyiT8VQonZfxmY53DjnzedDVL","gas_usage":8702,"ram_usage":{},"status_code":"SUCCESS","message":"","returns":["[]"],"receipts":[{"func_name":"token.iost/transfer","content":"[\\"iost\\",\\"alice\\",\\"bob\\",\\"2.3\\",\\"\\"]"}]}}'
const packed = packText(BODY) as Uint8Array

/** Stored texts refer to the dictionary: a change makes them unreadable. A better one gets the next number. */
test('dictionary 1 is unchanged since the first text was packed with it', () => {
  expect(new Bun.CryptoHasher('sha256').update(DICTIONARY_1).digest('hex')).toBe(
    'd1b3dd5e07f5434c0c9ec574b4d9412aad41353985f6093176c122e86740d27b',
  )
})

test('packText: the bytes are the same on any machine', () => {
  expect(Buffer.from(packed).toString('base64')).toBe(
    'AXYbueCQBRR7ngL3HUFyckJ5RzlGM1lTakxyM1VaaEhFeWlUOFZRb25aZnhtWTUzRGpuemVkRFZMygLRNzk1MjQ3NDA2Mjc3MAEADdwCAyMAGTgjAABKAR9yXwJ1UWFsaWNlFwExYm9iCAAxMi4zCAACJwEPdAIIATsAAdkBD3kCRw+bARwAWwEDmAJPODcwMqkCWA97Ag4BLgEBWQEPaQEAUCJ9XX19',
  )
})

/** Texts that repeat parts of themselves and of the dictionary, at lengths around the format's limits. */
const texts = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.nat(DICTIONARY_1.length).map(at => DICTIONARY_1.slice(at, at + 40)),
      fc.constantFrom('xyz', BODY),
      fc.nat(300).map(n => 'r'.repeat(n)),
    ),
  )
  .map(parts => parts.join(''))

test('packText, unpackText: any text is read back, call after call, with lone surrogates as U+FFFD; one that does not get shorter is unchanged', () => {
  for (const text of ['', '{}', 'no', '{"c":1}']) expect(packText(text)).toBe(text)
  const back = (text: string): string | undefined => {
    const stored = packText(text)
    return typeof stored === 'string' ? stored.toWellFormed() : unpackText(stored)
  }
  const distant = Array.from({ length: 30_000 }, (_, n) => `${n} `).join('')
  for (const text of [`${BODY}${distant}${BODY}`, BODY, ...oddTexts.map(each => BODY + each), `${BODY}\ud800`])
    expect(back(text)).toBe(text.toWellFormed())
  fc.assert(
    fc.property(texts, text => back(text) === text),
    { numRuns: 1_000 },
  )
})

test('unpackText: bytes in place of the block, or another length, cause no access outside of the buffer', () => {
  const noises = fc.tuple(fc.nat(200), fc.uint8Array({ maxLength: 60 }))
  fc.assert(
    // The checksum of four zeros is that of no text but the empty one.
    fc.property(
      noises,
      ([size, noise]) => size === 0 || unpackText(Uint8Array.of(1, 0, 0, 0, 0, size, ...noise)) === undefined,
    ),
    { numRuns: 2_000 },
  )
  expect(unpackText(packed)).toBe(BODY)
})

test('unpackText: a damaged byte never gives another text', () => {
  for (let at = 0; at < packed.length; at += 1)
    for (const bits of [0x01, 0x80, 0xff]) {
      const damaged = packed.slice()
      damaged[at] = (damaged[at] ?? 0) ^ bits
      // A match may refer to another position with the same letters.
      expect([undefined, BODY]).toContain(unpackText(damaged))
    }
  for (let length = 0; length < packed.length; length += 1)
    expect(unpackText(packed.subarray(0, length))).toBeUndefined()
  expect(unpackText(Uint8Array.of(...packed, 0))).toBeUndefined()
  expect(unpackText(packed)).toBe(BODY)
})

function back(text: string): string | undefined {
  const packed = packDigits(text)
  return typeof packed === 'string' ? packed : unpackDigits(packed)
}

/** Texts like those of series, with any characters that names may contain. */
const parts = fc.oneof(
  fc.bigInt().map(String),
  fc.nat(12).map(zeros => '0'.repeat(zeros)),
  fc.constantFrom(',', ';', '-', 't', ',voters;', '^4blv7fyctr', '名', '😀'),
  fc.string({ unit: 'binary' }),
)
const digitTexts = fc.array(parts).map(some => some.join(''))

test('packDigits: any text is read back, and none gets longer', () => {
  fc.assert(
    fc.property(digitTexts, text => {
      expect(back(text)).toBe(text)
      const packed = packDigits(text)
      if (typeof packed !== 'string') expect(packed.length).toBeLessThan(Buffer.byteLength(text))
    }),
    { numRuns: 2_000 },
  )
})

test('packDigits: a balance change takes less than half of its text, and a name stays unchanged', () => {
  const text = ',5,2,1000000;39,,d,81000000;'
  expect(Buffer.from(packDigits(text) as Uint8Array).toString('hex')).toBe('a5a2a1eb39aaf64a81eb')
  expect(packDigits('producer000')).toBe('producer000')
  expect(packDigits('')).toBe('')
})

test('unpackDigits: bytes that are the packed form of no text are damaged, as far as this is recognizable', () => {
  for (const hex of ['', 'f1', '00f3', 'ff'])
    expect([hex, unpackDigits(Buffer.from(hex, 'hex'))]).toEqual([hex, undefined])
  expect(unpackDigits(Buffer.from('12df', 'hex'))).toBe('12000')
})

test('words: a stored number means the same word for ever, and any other text or number is none', () => {
  const words = WORDS.slice(0, 50)
  expect(new Bun.CryptoHasher('sha256').update(words.join('\n')).digest('hex')).toBe(
    'ddd7508a19d3aab885177289168e4c4f70a54a18841de9042c0ee071d61bcfeb',
  )
  for (const [number, word] of words.entries()) expect(findWordNumber(word)).toBe(BigInt(number))
  for (const text of ['', 'success', '__proto__', '0']) expect(findWordNumber(text)).toBeUndefined()
})
