import { expect, test } from 'bun:test'
import type { Ref } from '../client/bulk-item.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { rememberState } from './state-cache.ts'

const ref = (id: string): Ref => ({ index: 'lists', id })
const docOf = (text: string) => ({ id: 'a', text })
const metaOf = (batch: string): PublishedMeta => ({
  end: { height: 1, hash: 'h', time: 0n, lib: 1 },
  batch,
  partitions: [0],
})

test('rememberState: a missing document is cached too; index and id are separate', () => {
  const docs = rememberState(() => 0).of(metaOf('b1'))
  docs.put(ref('a'), docOf('x'), 1)
  docs.put(ref('none'), undefined, 0)
  expect(docs.get(ref('a'))?.value).toEqual(docOf('x'))
  expect(docs.get(ref('none'))?.value).toBeUndefined()
  expect(docs.get(ref('none'))).toBeDefined()
  expect(docs.get({ index: 'accounts', id: 'a' })).toBeUndefined()
})

test('rememberState: kept for one batch, for a second, and not after a change', () => {
  let now = 0
  const state = rememberState(() => now)
  const keeps = (batch: string): boolean => state.of(metaOf(batch)).get(ref('a')) !== undefined
  const put = (batch: string): void => state.of(metaOf(batch)).put(ref('a'), docOf('x'), 1)
  put('b1')
  now = 999
  expect(keeps('b1')).toBe(true)
  now = 1_000
  expect(keeps('b1')).toBe(false)
  put('b1')
  expect(keeps('b2')).toBe(false)
  put('b2')
  state.forget()
  expect(keeps('b2')).toBe(false)
})

test('rememberState: a view of a replaced batch neither reads nor caches documents of the next one', () => {
  const state = rememberState(() => 0)
  const old = state.of(metaOf('b1'))
  const current = state.of(metaOf('b2'))
  old.put(ref('a'), docOf('old'), 1)
  expect(current.get(ref('a'))).toBeUndefined()
  current.put(ref('b'), docOf('new'), 1)
  expect(old.get(ref('b'))).toBeUndefined()
})
