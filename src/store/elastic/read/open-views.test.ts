import { expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
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

test('state in memory: missing documents are cached, too, and index and id are separate', () => {
  const docs = createStateCache()
  docs.put(lists, 'a', { doc, characters: 1 })
  docs.put(lists, 'none', { doc: undefined, characters: 0 })
  expect(docs.get(lists, 'a')?.value).toEqual(doc)
  expect(docs.get(lists, 'none')?.value).toBeUndefined()
  expect(docs.get(lists, 'none')).toBeDefined()
  expect(docs.get(accounts, 'a')).toBeUndefined()
})

test('state in memory: hits and misses are counted, and a full cache drops the oldest document', () => {
  const looks: boolean[] = []
  const docs = createStateCache(isHit => looks.push(isHit))
  for (const id of ['0', '1', '2']) docs.put(lists, id, { doc, characters: 3_999_000 })
  expect(docs.get(lists, '1')).toBeDefined()
  expect(docs.get(lists, '0')).toBeUndefined()
  expect(looks).toEqual([true, false])
})

test('state in memory: a document read by several views at the same time takes room once', () => {
  const docs = createStateCache()
  for (let n = 0; n < 3; n++) docs.put(lists, 'a', { doc, characters: 3_000_000 })
  docs.put(lists, 'b', { doc, characters: 3_000_000 })
  expect(docs.get(lists, 'b')).toBeDefined()
})

/** Views of a store without a server; their edition, the cache they share, distinguishes them. */
function opener() {
  let now = 0
  const views = createViews({
    connection: connect({ url: 'http://127.0.0.1:1' }),
    names: createNames('a'),
    clock: { elapsed: () => now },
    hold,
  })
  return {
    edition: (meta: PublishedMeta) => views.open(meta, {}).view.edition,
    forget: views.forget,
    at: (ms: number) => {
      now = ms
    },
  }
}

test('open views: cached documents are shared by views of one batch, for a second, and not after a change', () => {
  const { edition, forget, at } = opener()
  const [first, second] = [metaOf('b1'), metaOf('b2')]
  const begun = edition(first)
  at(999)
  expect(edition(first)).toBe(begun)
  at(1_000)
  const later = edition(first)
  expect(later).not.toBe(begun)
  const next = edition(second)
  expect(next).not.toBe(later)
  forget()
  expect(edition(second)).not.toBe(next)
})

test('open views: a view that reads damaged data shares no cache, and has no edition', () => {
  const views = createViews({
    connection: connect({ url: 'http://127.0.0.1:1' }),
    names: createNames('a'),
    clock: { elapsed: () => 0 },
    hold,
  })
  const meta = metaOf('b1')
  expect(views.open(meta, {}).view.edition).toBeDefined()
  expect(views.open(meta, { damaged: true }).view.edition).toBeUndefined()
})
