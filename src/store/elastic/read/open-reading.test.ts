import { expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import type { Field, Order } from '#indices/define.ts'
import { stateIndices } from '#indices/registry.ts'
import { tokens } from '#indices/token.ts'
import { transactions } from '#indices/transaction.ts'
import { wealth } from '#indices/wealth.ts'
import { boundedCache, countDocCharacters } from '#store/bounded-cache.ts'
import type { Published, View } from '#store/port.ts'
import { transactionDoc } from '#test/store/suite/fixture.ts'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { connect } from '../client/connection.ts'
import { MISSING_INDEX } from '../client/request.ts'
import type { PublishedMeta } from '../schema/checkpoint.ts'
import { encodeDoc } from '../schema/documents.ts'
import { EDITION, stateShapes } from '../schema/mappings.ts'
import { createNames, getStateIndex } from '../schema/names.ts'
import { createReads, createViews, READ_SERVES_MS } from './open-reading.ts'
import { getProvedDocs, NewerData, OutOfDateCopy } from './proved-reads.ts'
import { toQuery } from './search-state.ts'
import { parseHeight } from './view.ts'

const metaAt = (height: number): PublishedMeta => ({
  end: { height, hash: `h${height}`, time: 0n, lib: height },
  batch: `b${height}`,
  partitions: [0],
  generations: {},
  edition: EDITION,
})

/** The height alone distinguishes the views. */
const open = ({ end }: PublishedMeta) => ({ view: { at: end } as View, foundNothing: false })
/** Options of an undamaged store in which no time passes. */
const STILL = {
  open,
  whole: { require: async () => {}, requireNow: async () => {} },
  clock: { sleep: async () => {}, elapsed: () => 0 },
  timeoutMs: 100,
  store: 'it',
}

/** Reads over a script of published heights: each look takes the next one; the last one repeats. */
function scripted(script: readonly (number | PublishedMeta)[]) {
  const published = script.map(each => (typeof each === 'number' ? metaAt(each) : each))
  const opened: PublishedMeta[] = []
  const waits: number[] = []
  let [looks, now] = [0, 0]
  const pass = (ms: number) => {
    now += ms
  }
  const sleep = async (ms: number) => {
    waits.push(ms)
    pass(ms)
  }
  const reads = createReads({
    ...STILL,
    readPublished: async () => published[Math.min(looks++, published.length - 1)],
    open: at => {
      opened.push(at)
      return open(at)
    },
    clock: { sleep, elapsed: () => now },
  })
  return { ...reads, opened, looks: () => looks, waits, pass }
}
const height = async ({ at }: { at: Published }) => at.height

test('read: one read of the height serves all callers of a short time, and none later; the publishing process sees its own at once', async () => {
  const { read, expire, looks, pass } = scripted([4, 5, 6])
  expect(await Promise.all([read(height), read(height), read(height)])).toEqual([4, 4, 4])
  pass(READ_SERVES_MS - 1)
  expect(await read(height)).toBe(4)
  expect(looks()).toBe(1)
  pass(1)
  expect(await Promise.all([read(height), read(height), read(height)])).toEqual([5, 5, 5])
  expect(looks()).toBe(2)
  expire()
  expect(await read(height)).toBe(6)
})

test('read: a failed read of the height, or the time-out of its caller, is not shared', async () => {
  let looks = 0
  const { read } = createReads({
    readPublished: signal => {
      looks += 1
      if (looks > 1) return Promise.resolve(metaAt(4))
      const { promise, reject } = Promise.withResolvers<never>()
      signal?.addEventListener('abort', () => reject(new Failure('deadline', 'mine')))
      return promise
    },
    ...STILL,
  })
  const [stop, stopToo] = [new AbortController(), new AbortController()]
  const first = kindOf(read(height, stop))
  while (looks === 0) await Promise.resolve()
  const second = kindOf(read(height, stopToo))
  const third = read(height)
  stopToo.abort()
  expect(await second).toBe('deadline')
  expect(looks).toBe(1)
  stop.abort()
  expect(await first).toBe('deadline')
  expect(await third).toBe(4)
})

test('read: a height whose repair another caller has seen meanwhile is refused although the earlier height was read just now', async () => {
  const { read, fresh, readUnrepaired } = scripted([4, { ...metaAt(5), mending: true }])
  expect(await read(height)).toBe(4)
  expect((await failureOf(fresh(undefined))).message).toStartWith('it is being repaired')
  expect((await failureOf(read(height))).message).toStartWith('it is being repaired')
  readUnrepaired()
  expect(await read(height)).toBe(5)
})

test('read: a height that another caller has read meanwhile is not replaced by an earlier one', async () => {
  const [slow, quick] = [Promise.withResolvers<PublishedMeta>(), Promise.resolve(metaAt(5))]
  const published: Promise<PublishedMeta>[] = [slow.promise, quick]
  const { fresh } = createReads({ ...STILL, readPublished: () => published.shift() ?? quick })
  const late = fresh(undefined)
  expect((await fresh(undefined)).end.height).toBe(5)
  slow.resolve(metaAt(4))
  expect((await late).end.height).toBe(5)
})

test('read: a batch that is republished with its inventory is read with the new one', async () => {
  const inventory = { batch: 'b4', indices: {}, last: { 'iost-lists-0': ['a', 5] as const } }
  const { read, expire, opened } = scripted([4, 4, { ...metaAt(4), inventory }])
  for (let n = 0; n < 4; n++) {
    await read(height)
    expire()
  }
  expect(opened.map(at => at.inventory?.batch)).toEqual([undefined, undefined, undefined, 'b4'])
  expect(opened[1]).toBe(opened[0] as PublishedMeta)
})

test('read: the result of work at a height that is no longer published is dropped; of one read just now it is used', async () => {
  const { read, expire, looks } = scripted([4, 5, 6])
  await read(height)
  expire()
  const worked: number[] = []
  const work = async ({ at }: View) => {
    worked.push(at.height)
    // An answer such as "not found" applies to a height that has passed.
    if (at.height === 4) throw new Failure('not_found', 'not yet')
    return at.height
  }
  expect(await read(work)).toBe(5)
  expect(worked).toEqual([4, 5])
  expect(looks()).toBe(2)
})

test('read: a copy behind the last known height is read again and never used; a height that stays lower belongs to a recreated store', async () => {
  const { read, expire, looks, waits } = scripted([4, 5, 4, 4, 5])
  await read(height)
  expire()
  expect(await read(height)).toBe(5)
  expire()
  expect(await read(height)).toBe(5)
  expect([looks(), waits]).toEqual([5, [2, 4]])
  const recreated = scripted([4, 3])
  await recreated.read(height)
  recreated.expire()
  expect([await recreated.read(height), await recreated.read(height)]).toEqual([3, 3])
})

test('read: documents that stay newer are unavailable', async () => {
  const refused = await failureOf(scripted([4]).read(() => Promise.reject(new NewerData())))
  expect([refused.kind, refused.help]).toEqual(['unavailable', expect.stringContaining('Start it again')])
})

test('read: a missing index makes the read start again only after another publication', async () => {
  const gone = new Failure('unavailable', 'gone', { details: { type: MISSING_INDEX } })
  const removed = ({ at }: View) => (at.height === 4 ? Promise.reject(gone) : Promise.resolve(at.height))
  expect(await scripted([4, 5]).read(removed)).toBe(5)
  expect(await failureOf(scripted([4]).read(removed))).toBe(gone)
})

type Connection = ReturnType<typeof connect>

function openViews(connection: Connection, options: Partial<Parameters<typeof createViews>[0]> = {}) {
  return createViews({
    connection,
    names: createNames('a'),
    clock: STILL.clock,
    hold: () => Promise.reject(),
    ...options,
  })
}

/** The outcome of `work` at a server that gives these answers. */
async function workAt<T>(
  answer: (request: Request) => Promise<object>,
  work: (connection: Connection) => Promise<T>,
): Promise<T | Error> {
  const headers = { 'x-elastic-product': 'Elasticsearch' }
  const server = Bun.serve({ port: 0, fetch: async request => Response.json(await answer(request), { headers }) })
  const connection = connect({ url: server.url.origin })
  try {
    return await work(connection)
  } catch (error) {
    return error as Error
  } finally {
    await connection.close()
    await server.stop(true)
  }
}

test('find: a copy that lacks the last document is out of date unless its hits are all that was requested', async () => {
  const [first, second] = [transactionDoc(2, 1), transactionDoc(7, 1)]
  const { hash8 } = first
  const twins = [first, { ...second, hash8 }]
  const hits = twins.map(doc => ({ _id: doc.id, _source: JSON.parse(encodeDoc(transactions, doc)) }))
  const last = { 'a-transactions-000000': ['000000000009-000000', 1] as const }
  const published = (height: number) => ({ ...metaAt(height), inventory: { batch: `b${height}`, indices: {}, last } })
  for (const [values, isEnough, isCurrent] of [
    [[hash8], undefined, true],
    // Hits that share a value do not hide that a copy lacks another value.
    [[hash8, second.hash8], undefined, false],
    [[hash8], () => true, true],
    // A hit other than the requested one does not hide that the copy lacks the requested one.
    [[hash8], () => false, false],
  ] as const) {
    const found = await workAt(
      async () => ({ hits: { hits } }),
      connection => openViews(connection).open(published(9), {}).view.findAny(transactions, 'hash8', values, isEnough),
    )
    expect([values, found instanceof OutOfDateCopy]).toEqual([values, !isCurrent])
    if (isCurrent) expect<unknown>(found).toEqual(twins)
  }
})

test('getProvedDocs: each request proves the indices of its documents, whatever their number', async () => {
  type Wanted = { readonly _index: string; readonly _id: string }
  const requests: (readonly Wanted[])[] = []
  const refs = Array.from({ length: 2_500 }, (_, n) => ({ index: `i${n % 300}`, id: `d${n}` }))
  const last = Object.fromEntries(refs.map(({ index }) => [index, ['last', 1] as const]))
  const found = await workAt(
    async request => {
      const { docs } = (await request.json()) as { readonly docs: readonly Wanted[] }
      requests.push(docs)
      return { docs: docs.map(doc => ({ ...doc, _version: 1, found: true, _source: { id: doc._id } })) }
    },
    connection => getProvedDocs({ connection, last }, refs),
  )
  if (found instanceof Error) throw found
  expect(found.map(got => got?.source['id'])).toEqual(refs.map(({ id }) => id))
  for (const docs of requests) {
    const proved = new Set(docs.filter(({ _id }) => _id === 'last').map(({ _index }) => _index))
    expect(docs.filter(({ _index }) => !proved.has(_index))).toEqual([])
  }
})

test('state in memory: missing documents are cached, too, index and id are separate, and hits and misses are counted', async () => {
  const looks: boolean[] = []
  let requests = 0
  const found = await workAt(
    async request => {
      requests += 1
      const { docs } = (await request.json()) as { readonly docs: readonly { readonly _id: string }[] }
      const _source = { kind: 'wealth', group: '', value: '1', member: 'a', token: '1', vote: '0', frozen: '0' }
      return { docs: docs.map(({ _id }) => ({ _id, found: _id === 'wealth/a', _version: 1, _source })) }
    },
    async connection => {
      const { view } = openViews(connection, { onCacheRead: isHit => looks.push(isHit) }).open(metaAt(4), {})
      const twice = [await view.getMany(wealth, ['a', 'b']), await view.getMany(wealth, ['a', 'b'])]
      return [...twice, await view.getMany(tokens, ['a'])].map(docs => docs.map(doc => doc?.id))
    },
  )
  expect(found).toEqual([['a', undefined], ['a', undefined], [undefined]])
  expect([looks, requests]).toEqual([[false, false, true, true, false], 2])
})

test('countDocCharacters: texts count their characters, other values eight, and lists and objects their content, too', () => {
  expect(countDocCharacters({ a: 'four', b: 4n, c: [1], d: [['five.', { e: null }]] })).toBe(4 + 8 + 16 + 37)
  expect(countDocCharacters(undefined)).toBe(0)
})

test('boundedCache: a full cache drops the oldest value, and one that is stored again takes room once', () => {
  const cache = boundedCache<string>(8_000_000)
  for (const key of ['0', '1', '1', '1', '2']) cache.put(key, key, 3_999_000)
  expect(['0', '1', '2'].map(key => cache.get(key)?.value)).toEqual([undefined, '1', '2'])
})

/** The edition of views, the cache that they share, distinguishes them. */
test('open views: cached documents are shared by views of one batch, for a second, and not after a change, nor if data is damaged', () => {
  let now = 0
  const views = openViews(connect({ url: 'http://127.0.0.1:1' }), { clock: { elapsed: () => now } })
  const edition = (meta: PublishedMeta) => views.open(meta, {}).view.edition
  const [first, second] = [metaAt(1), metaAt(2)]
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

test('toQuery: a short tie is read from its start, and a long one is limited by a range of names', () => {
  const richest = { index: wealth, order: wealth.orders.richest, group: undefined }
  const range = { after: { amount: 9n, name: 'm' }, until: { amount: 9n, name: 'p' } }
  const toFilters = (tied: number) => toQuery(richest, { ...range, tied }).query.bool.filter.slice(1)
  const tie = { range: { value: { gte: '9', lte: '9' } } }
  expect(toFilters(0)).toEqual([tie])
  expect(toFilters(Number.POSITIVE_INFINITY)).toEqual([tie, { range: { member: { gt: 'm', lte: 'p' } } }])
})

test('toQuery, stateShapes: each counted order is the sort on disk', () => {
  const { sort } = stateShapes.state.settings.index
  for (const index of stateIndices) {
    const [order] = Object.values<Order>(index.orders)
    if (!order?.counted) continue
    const asked = toQuery({ index, order, group: order.group && 'x' }).sort.flatMap(Object.entries)
    const stored = { field: asked.map(([field]) => field), order: asked.map(([, direction]) => direction) }
    expect<unknown>([index.name, sort]).toEqual([index.name, stored])
  }
})

test('stateShapes: mapped fields of one name have one type in all kinds', () => {
  const { properties } = stateShapes.state.mappings
  for (const index of stateIndices)
    for (const [name, { kind }] of Object.entries<Field>(index.fields)) {
      const type = properties[name]?.type
      if (type !== undefined && getStateIndex(index) === 'state')
        expect([index.name, name, type]).toEqual([index.name, name, kind === 'bool' ? 'boolean' : 'long'])
    }
})

test('parseHeight: ids of history begin with the height', () => {
  const ids = ['000000000007', '000000000007-00001', '000000000012-00001-00002', '', '7', '0000000000071', 'x']
  expect(ids.map(parseHeight)).toEqual([7, 7, 12, undefined, undefined, undefined, undefined])
})
