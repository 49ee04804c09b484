import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { base58Bytes, decodeBase58, encodeBase58 } from './base58.ts'
import { hash8, hashBytes, listHash8Candidates, sha3 } from './hash.ts'

test('hash8: the result is the first eight bytes as a signed integer', () => {
  const hash = '8psW23ozxC4SjoXeD2DSPWBNzR3Re9a3ei9Vu1C49sQg'
  const first = Buffer.from(decodeBase58(hash)).subarray(0, 8).toString('hex')
  expect(hash8(hash)).toBe(BigInt(`0x${first}`))
  expect(hash8(encodeBase58(new Uint8Array(32).fill(255)))).toBe(-1n)
  expect(hash8('1'.repeat(32))).toBe(0n)
})

test.each(['', 'xx', '0OIl', 'z'.repeat(44)])('hash8: %p is not a hash', text => {
  expect(hashBytes(text)).toBeUndefined()
  expect(() => hash8(text)).toThrow(`Hash "${text}" is not base58 of 32 bytes.`)
})

test('the beginning of a hash: a beginning of ten letters or more allows the first bytes of its hash and few others', () => {
  let most = 0
  for (let at = 0; at < 300; at++) {
    const hash = encodeBase58(sha3(new TextEncoder().encode(String(at))))
    for (const letters of [10, 11, 13, 20, hash.length - 1, hash.length]) {
      const allowed = listHash8Candidates(hash.slice(0, letters))
      expect([hash, letters, allowed.includes(hash8(hash))]).toEqual([hash, letters, true])
      most = Math.max(most, allowed.length)
    }
  }
  expect(most).toBeLessThan(200)
})

test('the beginning of a hash: hashes with leading zeros and the highest hash are found, other texts begin no hash', () => {
  for (const first of [[0], [0, 0, 0], [255, 255, 255, 255, 255, 255, 255, 255]]) {
    const hash = encodeBase58(Uint8Array.from({ length: 32 }, (_, at) => first[at] ?? 200 + at))
    expect([hash, listHash8Candidates(hash.slice(0, 12)).includes(hash8(hash))]).toEqual([hash, true])
  }
  for (const text of ['', '123456789', 'busyhub_users', '0OIl0OIl0OIl', 'z'.repeat(45)])
    expect([text, listHash8Candidates(text)]).toEqual([text, []])
})

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

test('base58: any bytes and any text of the alphabet survive a round trip', () => {
  const text = fc.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{0,90}$/)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), text, (bytes, letters) => {
      expect(decodeBase58(encodeBase58(bytes))).toEqual(new Uint8Array(bytes))
      expect(encodeBase58(decodeBase58(letters))).toBe(letters)
    }),
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

test.each(['0', 'O', 'I', 'l', 'ab cd', 'ä', '_', `${'z'.repeat(42)}0`, `${'2'.repeat(43)}ä`])(
  'base58: %p has a character outside the alphabet',
  text => {
    expect(base58Bytes(text)).toBeUndefined()
    expect(() => decodeBase58(text)).toThrow(`"${text}" is not base58.`)
  },
)
