import { expect, test } from 'bun:test'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { hash8, hashBytes, sha3, sha3OfPair } from './hash.ts'

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

test('sha3: the result is the published digest of "abc" (FIPS 202), for one input or a pair', () => {
  const digest = '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532'
  expect(Buffer.from(sha3(Buffer.from('abc'))).toString('hex')).toBe(digest)
  expect(Buffer.from(sha3OfPair(Buffer.from('a'), Buffer.from('bc'))).toString('hex')).toBe(digest)
  const [one, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
  expect(sha3OfPair(one, other)).toEqual(sha3(Buffer.concat([one, other])))
})
