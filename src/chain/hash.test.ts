import { expect, test } from 'bun:test'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { hash8, hashBytes, listHash8Candidates, sha3, sha3OfPair } from './hash.ts'

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

test('the beginning of a hash: hashes with leading zeros and the highest hash are found', () => {
  for (const first of [[0], [0, 0, 0], [255, 255, 255, 255, 255, 255, 255, 255]]) {
    const hash = encodeBase58(Uint8Array.from({ length: 32 }, (_, at) => first[at] ?? 200 + at))
    expect([hash, listHash8Candidates(hash.slice(0, 12)).includes(hash8(hash))]).toEqual([hash, true])
  }
})

test('the beginning of a hash: other texts are the beginning of no hash', () => {
  for (const text of ['', '123456789', 'busyhub_users', '0OIl0OIl0OIl', 'z'.repeat(45)])
    expect([text, listHash8Candidates(text)]).toEqual([text, []])
})
