import { expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { lists } from '#indices/list.ts'
import { countDocCharacters } from '#store/bounded-cache.ts'
import { connect } from '../client/connection.ts'
import type { PublishedMeta } from '../schema/checkpoint.ts'
import { EDITION } from '../schema/mappings.ts'
import { createNames } from '../schema/names.ts'
import { createStateCache, createViews } from './open-reading.ts'

const doc = { id: 'a' }
function hold(): never {
  throw new Error('No view is held here.')
}
const metaOf = (batch: string): PublishedMeta => ({
  end: { height: 1, hash: 'h', time: 0n, lib: 1 },
  batch,
  partitions: [0],
  generations: {},
  edition: EDITION,
})

test('state in memory: missing documents are cached, too, index and id are separate, and hits and misses are counted', () => {
  const looks: boolean[] = []
  const docs = createStateCache(isHit => looks.push(isHit))
  docs.put(lists, 'a', { doc, characters: 1 })
  docs.put(lists, 'none', { doc: undefined, characters: 0 })
  expect(docs.get(lists, 'a')?.value).toEqual(doc)
  expect(docs.get(lists, 'none')).toMatchObject({ value: undefined })
  expect(docs.get(accounts, 'a')).toBeUndefined()
  expect(looks).toEqual([true, true, false])
})

test('state in memory: a full cache drops the oldest document, and one read by several views takes room once', () => {
  const docs = createStateCache()
  for (const id of ['0', '1', '1', '1', '2']) docs.put(lists, id, { doc, characters: 3_999_000 })
  expect([docs.get(lists, '0'), docs.get(lists, '1')]).toEqual([undefined, expect.anything()])
})

test('the size of a value: texts count their characters, other values eight, and lists and objects their content, too', () => {
  expect(countDocCharacters({ a: 'four', b: 4n, c: [1], d: [['five.', { e: null }]] })).toBe(4 + 8 + 16 + 37)
  expect(countDocCharacters(undefined)).toBe(0)
})

/** The edition of views, the cache that they share, distinguishes them. */
test('open views: cached documents are shared by views of one batch, for a second, and not after a change, nor if data is damaged', () => {
  let now = 0
  const connection = connect({ url: 'http://127.0.0.1:1' })
  const views = createViews({ connection, names: createNames('a'), clock: { elapsed: () => now }, hold })
  const edition = (meta: PublishedMeta) => views.open(meta, {}).view.edition
  const [first, second] = [metaOf('b1'), metaOf('b2')]
  const begun = edition(first)
  expect(begun).toBeDefined()
  now = 999
  expect(edition(first)).toBe(begun)
  expect(views.open(first, { damaged: true }).view.edition).toBeUndefined()
  now = 1_000
  const later = edition(first)
  expect(later).not.toBe(begun)
  const next = edition(second)
  expect(next).not.toBe(later)
  views.forget()
  expect(edition(second)).not.toBe(next)
})
