import { expect, test } from 'bun:test'
import { numberOfWord, WORDS } from './values.ts'

test('words: a stored number means the same word for ever', () => {
  const words = Array.from({ length: 50 }, (_, number) => WORDS[number])
  expect(words.slice(0, 4)).toEqual(['SUCCESS', 'token.iost', 'transfer', '[]'])
  expect(new Bun.CryptoHasher('sha256').update(words.join('\n')).digest('hex')).toBe(
    'ddd7508a19d3aab885177289168e4c4f70a54a18841de9042c0ee071d61bcfeb',
  )
  for (const [number, word] of words.entries()) expect(numberOfWord(word ?? '')).toBe(BigInt(number))
})

test('words: any other text or number is not a word', () => {
  for (const text of ['', 'success', '__proto__', 'constructor', '0', '1']) expect(numberOfWord(text)).toBeUndefined()
  for (const number of [-1, 1_000_000, 2 ** 62]) expect(WORDS[number]).toBeUndefined()
})
