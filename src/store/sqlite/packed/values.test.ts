import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { packDigits, unpackDigits } from './values.ts'

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
const texts = fc.array(parts).map(some => some.join(''))

test('packDigits: any text is read back, and none gets longer', () => {
  fc.assert(
    fc.property(texts, text => {
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
