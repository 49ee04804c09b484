import { expect, test } from 'bun:test'
import type { Ref } from '../client/bulk-item.ts'
import type { Got } from '../client/get-many.ts'
import type { PublishedMeta } from '../schema/checkpoint-record.ts'
import { rememberState } from './state-cache.ts'

const ref = (id: string): Ref => ({ index: 'lists', id })
const gotOf = (text: string): Got => ({ source: { text }, version: 1, seqNo: 0, primaryTerm: 1 })
const metaOf = (batch: string): PublishedMeta => ({
  end: { height: 1, hash: 'h', time: 0n, lib: 1 },
  batch,
  partitions: [0],
})

test('rememberState: a missing document is cached too; index and id are separate', () => {
  const docs = rememberState(() => 0).of(metaOf('b1'))
  docs.put(ref('a'), gotOf('x'))
  docs.put(ref('none'), undefined)
  expect(docs.get(ref('a'))?.got).toEqual(gotOf('x'))
  expect(docs.get(ref('none'))).toEqual({ got: undefined })
  expect(docs.get({ index: 'accounts', id: 'a' })).toBeUndefined()
})

test('rememberState: kept for one batch, for a second, and not after a change', () => {
  let now = 0
  const state = rememberState(() => now)
  const keeps = (batch: string): boolean => state.of(metaOf(batch)).get(ref('a')) !== undefined
  const put = (batch: string): void => state.of(metaOf(batch)).put(ref('a'), gotOf('x'))
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
  old.put(ref('a'), gotOf('old'))
  expect(current.get(ref('a'))).toBeUndefined()
  current.put(ref('b'), gotOf('new'))
  expect(old.get(ref('b'))).toBeUndefined()
})
