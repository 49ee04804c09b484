import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { base58Bytes, decodeBase58, encodeBase58 } from './base58.ts'

/** From the Base58 draft of the IETF (draft-msporny-base58), and leading zeros. */
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

test('base58: identity for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), bytes =>
      Bun.deepEquals(decodeBase58(encodeBase58(bytes)), new Uint8Array(bytes)),
    ),
  )
})

test('base58: identity for any text of the alphabet', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{0,90}$/),
      text => encodeBase58(decodeBase58(text)) === text,
    ),
  )
})

test.each(['0', 'O', 'I', 'l', 'ab cd', 'ä', '_'])(
  'base58: %p has a character that is not of the alphabet',
  text => {
    expect(base58Bytes(text)).toBeUndefined()
    expect(() => decodeBase58(text)).toThrow(`"${text}" is not base58.`)
  },
)
