import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { base58Bytes, decodeBase58, encodeBase58 } from './base58.ts'

/** Test vectors of the IETF's Base58 draft (draft-msporny-base58), and leading zeros. */
const VECTORS: readonly (readonly [string, string])[] = [
  ['', ''],
  [Buffer.from('Hello World!').toString('hex'), '2NEpo7TZRRrLZSi2U'],
  [
    Buffer.from('The quick brown fox jumps over the lazy dog.').toString('hex'),
    'USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z',
  ],
  ['0000287fb4cd', '11233QC4'],
  ['00', '1'],
  ['000001', '112'],
]
test.each(VECTORS)('base58: %s is %s', (hex, text) => {
  expect(encodeBase58(Buffer.from(hex, 'hex'))).toBe(text)
  expect(Buffer.from(decodeBase58(text)).toString('hex')).toBe(hex)
})

test('base58: any bytes survive a round trip', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), bytes =>
      Bun.deepEquals(decodeBase58(encodeBase58(bytes)), new Uint8Array(bytes)),
    ),
  )
})

/** 32 bytes have their own encoder. Tested: the extremes, each limb alone, and many leading zeros. */
const BITS = Array.from({ length: 256 }, (_, bit) => 1n << BigInt(bit))
test('base58: 32 bytes with a leading zero byte encode the same number', () => {
  const plain = (bytes: Uint8Array) => encodeBase58(Uint8Array.of(0, ...bytes)).slice(1)
  for (const value of [0n, 2n ** 256n - 1n, ...BITS, ...BITS.map(bit => bit - 1n), ...BITS.map(bit => bit * 3n)]) {
    const hex = BigInt.asUintN(256, value).toString(16).padStart(64, '0')
    const bytes = new Uint8Array(Buffer.from(hex, 'hex'))
    expect([hex, encodeBase58(bytes)]).toEqual([hex, plain(bytes)])
    expect([hex, decodeBase58(plain(bytes))]).toEqual([hex, bytes])
  }
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      bytes =>
        encodeBase58(bytes) === plain(bytes) && Bun.deepEquals(decodeBase58(plain(bytes)), new Uint8Array(bytes)),
    ),
  )
})

/** Texts with the lengths of 32 bytes, among them numbers that need 33 or fewer than 32. */
test('base58: texts of 42 to 45 equal letters survive a round trip', () => {
  for (const letter of ['1', '2', 'J', 'z'])
    for (const length of [42, 43, 44, 45]) {
      const text = letter.repeat(length)
      expect(encodeBase58(decodeBase58(text))).toBe(text)
    }
})

test('base58: any text of the alphabet survives a round trip', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{0,90}$/), text => encodeBase58(decodeBase58(text)) === text),
  )
})

test.each(['0', 'O', 'I', 'l', 'ab cd', 'ä', '_', `${'z'.repeat(42)}0`, `${'2'.repeat(43)}ä`])(
  'base58: %p has a character outside the alphabet',
  text => {
    expect(base58Bytes(text)).toBeUndefined()
    expect(() => decodeBase58(text)).toThrow(`"${text}" is not base58.`)
  },
)
