import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { compress, decompress, prepareDictionary } from './lz4.ts'

const none = prepareDictionary('')
const words = prepareDictionary('the quick brown fox jumps over the lazy dog')
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Cases of the format: token, literals, offset, lengths beyond 15 in further bytes. */
test.each([
  ['nothing', none, '', '00'],
  ['literals alone', none, 'abc', '30616263'],
  ['a run: one literal, then a match with itself', none, 'a'.repeat(32), '1f61010007506161616161'],
  ['a match in the dictionary', words, 'quick brown fox, ended', '0b2700702c20656e646564'],
])('compress: %s', (...[, dictionary, text, hex]) => {
  const block = compress(dictionary, bytes(text))
  expect(Buffer.from(block).toString('hex')).toBe(hex)
  expect(decompress(dictionary, block, text.length)).toEqual(bytes(text))
})

/** Texts that repeat parts of themselves and of the dictionary, at lengths around the format's limits. */
const texts = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.constantFrom('quick brown', 'the lazy dog', 'xyz'),
      fc.nat(300).map(n => 'r'.repeat(n)),
    ),
  )
  .map(parts => parts.join(''))

test('compress, decompress: any input is read back with any dictionary, call after call', () => {
  fc.assert(
    fc.property(texts, texts, (dictionary, text) => {
      const known = prepareDictionary(dictionary)
      const input = bytes(text)
      const block = compress(known, input)
      return Bun.deepEquals(decompress(known, block, input.length)?.slice(), input)
    }),
    { numRuns: 1_000 },
  )
})

test('compress, decompress: distant matches beyond the offset limit and inputs larger than the reserved buffer work', () => {
  const block = Array.from({ length: 3_000 }, (_, n) => `${n} `).join('')
  const text = `first words of all${block.repeat(30)}first words of all, again`
  for (const input of [text, 'short', text]) {
    const packed = compress(words, bytes(input))
    expect(Buffer.from(decompress(words, packed, input.length) ?? []).toString()).toBe(input)
  }
})

test('decompress: a damaged or cut block, or another length, causes no access outside of the buffer', () => {
  const input = bytes('the quick brown fox is quick, the quick brown dog is not'.repeat(3))
  const block = compress(words, input)
  expect(decompress(words, block, input.length - 1)).toBeUndefined()
  expect(decompress(words, block, input.length + 1)).toBeUndefined()
  for (let length = 0; length < block.length; length += 1)
    expect(decompress(words, block.subarray(0, length), input.length)).toBeUndefined()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(200), (noise, size) => {
      const made = decompress(words, noise, size)
      return made === undefined || made.length === size
    }),
    { numRuns: 2_000 },
  )
  expect(Buffer.from(decompress(words, block, input.length) ?? [])).toEqual(Buffer.from(input))
})
