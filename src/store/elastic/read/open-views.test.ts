import { expect, test } from 'bun:test'
import { lists } from '#indices/list.ts'
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

test('state in memory: a full cache drops the oldest document, and one read by several views takes room once', () => {
  const docs = createStateCache()
  for (const id of ['0', '1', '1', '1', '2']) docs.put(lists, id, { doc, characters: 3_999_000 })
  expect([docs.get(lists, '0'), docs.get(lists, '1')]).toEqual([undefined, expect.anything()])
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
