import { expect, test } from 'bun:test'
import { encodeBase58 } from './base58.ts'
import { hash8, sha3 } from './hash.ts'
import { listHash8Candidates } from './hash-beginning.ts'

test('hash8sBeginningWith: a beginning of ten letters or more allows the first bytes of its hash and few others', () => {
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

test('hash8sBeginningWith: hashes with leading zeros and the highest hash are found', () => {
  for (const first of [[0], [0, 0, 0], [255, 255, 255, 255, 255, 255, 255, 255]]) {
    const hash = encodeBase58(Uint8Array.from({ length: 32 }, (_, at) => first[at] ?? 200 + at))
    expect([hash, listHash8Candidates(hash.slice(0, 12)).includes(hash8(hash))]).toEqual([hash, true])
  }
})

test('hash8sBeginningWith: other texts are the beginning of no hash', () => {
  for (const text of ['', '123456789', 'busyhub_users', '0OIl0OIl0OIl', 'z'.repeat(45)])
    expect([text, listHash8Candidates(text)]).toEqual([text, []])
})
