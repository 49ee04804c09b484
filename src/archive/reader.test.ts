import { expect, test } from 'bun:test'
import { createMemo } from './reader.ts'

/** Remembers texts, and the keys that had to be made, in order. */
function remembering(bounds: { readonly most: number; readonly characters?: number }) {
  const made: string[] = []
  const remembered = createMemo<string>({ ...bounds, sizeOf: text => text.length })
  const of = (key: string): Promise<string> =>
    remembered(key, async () => {
      made.push(key)
      return key.repeat(10)
    })
  return { made, of }
}

test('cached reads: beyond the number of values, the oldest is made again', async () => {
  const { made, of } = remembering({ most: 2, characters: 1_000 })
  for (const key of ['a', 'b', 'a', 'c', 'b', 'a']) await of(key)
  expect(made).toEqual(['a', 'b', 'c', 'a'])
})

test('cached reads: beyond the characters, the oldest that have arrived are made again', async () => {
  const { made, of } = remembering({ most: 9, characters: 25 })
  for (const key of ['a', 'b', 'c', 'b', 'c', 'a']) await of(key)
  expect(made).toEqual(['a', 'b', 'c', 'a'])
})

test('cached reads: calls for a value under way share it, whatever its size will be', async () => {
  const { made, of } = remembering({ most: 9, characters: 1 })
  expect(await Promise.all(['a', 'b', 'a', 'b'].map(of))).toEqual(['a', 'b', 'a', 'b'].map(key => key.repeat(10)))
  expect(made).toEqual(['a', 'b'])
})

test('cached reads: a value that could not be made is made again', async () => {
  const remembered = createMemo<string>({ most: 2 })
  const failing = remembered('a', () => Promise.reject(new Error('unreadable')))
  await expect(failing).rejects.toThrow('unreadable')
  expect(await remembered('a', async () => 'read')).toBe('read')
})
