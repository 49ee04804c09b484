import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import { blockId, type ListDoc, lists } from '#indices/list.ts'
import type { ElasticStore } from '#store/elastic/open-elastic.ts'
import type { MergeProgress, View } from '#store/port.ts'
import { batchOf, blockDoc, identity, publishedAt, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { type Asked, openProxy, pass } from '../support/nodes/faulty-proxy.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { type PlainRow, plainChain } from '../support/oracle/plain-records.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { commitBatch } from '../support/stores/commit-batch.ts'
import {
  elasticsearchUrl,
  openBehindProxy,
  openTestElastic,
  type TestElastic,
} from '../support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom } from '../support/stores/loading.ts'
import { openOtherState } from '../support/stores/test-state.ts'

/** History documents per partition. A block has about ten. */
const PARTITION = 1_000
const HEIGHT = 1_300

async function mergeAll(store: ElasticStore): Promise<readonly MergeProgress[]> {
  const told: MergeProgress[] = []
  const { signal } = new AbortController()
  await store.partitions.merge({ signal, onProgress: progress => told.push(progress) })
  return told.filter(({ state }) => state !== 'merging')
}

const rowsOf = async (view: View, list: ListDoc, first: number, last: number) =>
  (await view.records(list, first, last)).map(({ height, tx_hash: hash, index }) => ({ height, hash, index }))

async function listOf(view: View, key: string): Promise<ListDoc> {
  const list = await view.get(lists, key)
  if (list === undefined) throw new Error(`There is no list ${key}.`)
  return list
}

describe.skipIf(elasticsearchUrl() === undefined)('history in partitions of some hundred documents', () => {
  let opened: TestElastic
  let plain: ReadonlyMap<string, readonly PlainRow[]>
  /** Records the requests of the store `through`. */
  let asked: readonly Asked[]
  let through: ElasticStore
  let close: () => Promise<void>
  const random = seeded(seedOf(5))
  const partition = (index: string, number: number): string =>
    `${opened.prefix}-${index}-${String(number).padStart(6, '0')}`
  const readLong = () =>
    opened.store.read(async view => {
      const list = await listOf(view, 'contract/token.iost')
      return { list, rows: await rowsOf(view, list, 1, list.count) }
    })

  beforeAll(async () => {
    opened = openTestElastic({ partitionDocuments: PARTITION, leaseMs: 15_000 })
    const proxy = await openProxy(opened.url, () => pass)
    asked = proxy.asked
    through = opened.reopen({ url: proxy.url })
    close = async () => {
      await opened.destroy()
      await proxy.close()
    }
    await loadFrom(ARCHIVED, opened.store, { to: 300, prove: 'linked' })
    const first = await mergeAll(opened.store)
    expect(first.filter(({ state }) => state !== 'merged')).toEqual([])
    // Merging runs during the load: it merges finished partitions and leaves the unfinished one alone.
    let loading = true
    const load = loadFrom(ARCHIVED, opened.store, { to: HEIGHT, prove: 'linked' }).finally(() => {
      loading = false
    })
    while (loading) expect((await mergeAll(opened.store)).length).toBeGreaterThanOrEqual(first.length)
    await load
    const read = (await recordedBlocks()).slice(0, HEIGHT + 1)
    plain = plainChain(read.map(({ block }) => block)).lists
  })
  afterAll(() => close())

  test('every list equals the plain list, whole and in pages around every opening', () =>
    opened.store.read(async view => {
      let crossed = 0
      for (const [key, rows] of [...plain].filter((_, at) => SOAK || at % 16 === 0)) {
        const list = await listOf(view, key)
        const expected = rows.map(({ height, hash, index }) => ({ height, hash, index }))
        expect([key, await rowsOf(view, list, 1, list.count)]).toEqual([key, expected])
        const openings = list.starts.slice(1)
        for (const [, start] of openings.length > 8 ? openings.filter((_, at) => at % 4 === 0) : openings) {
          const [first, last] = [start - Math.ceil(random() * 20), start + Math.floor(random() * 20)]
          expect([key, await rowsOf(view, list, first, last)]).toEqual([
            key,
            expected.slice(Math.max(0, first - 1), last),
          ])
          crossed++
        }
      }
      expect(crossed).toBeGreaterThan(SOAK ? 100 : 10)
    }))

  /** Without requests for the published height, which may come at any time. */
  const searches = () => asked.filter(({ path }) => path.includes('/_search'))

  test('times of rows anywhere in a list take one request, whatever the number of partitions', () =>
    through.read(async view => {
      const key = 'contract/token.iost'
      const list = await listOf(view, key)
      const rows = plain.get(key) ?? []
      for (let n = 0; n < 20; n++) {
        const anywhere = Array.from({ length: 32 }, () => 1 + Math.floor(random() * list.count))
        const ordinals = [...new Set(anywhere)].toSorted((a, b) => a - b)
        const before = searches().length
        const moments = await view.moments(list, ordinals)
        expect(searches().length - before).toBe(1)
        expect<unknown>(moments).toEqual(
          ordinals.map(ordinal => rows[ordinal - 1]).map(row => ({ height: row?.height, time: row?.time })),
        )
      }
    }))

  test('a page reads only the partitions with its rows', () =>
    through.read(async view => {
      const list = await listOf(view, 'contract/token.iost')
      expect(list.starts.length).toBeGreaterThan(8)
      const askedFor = async (first: number, last: number) => {
        const before = searches().length
        await view.records(list, first, last)
        return searches()
          .slice(before)
          .map(({ path }) => path.split('/')[1])
      }
      for (const [at, [number, start]] of list.starts.entries()) {
        const [before] = list.starts[at - 1] ?? []
        const own = partition('records', number)
        expect(await askedFor(start, start)).toEqual([own])
        if (before !== undefined)
          expect(await askedFor(start - 1, start)).toEqual([`${partition('records', before)},${own}`])
      }
    }))

  test('each finished partition contains the configured number of documents, up to its last block', async () => {
    const { list } = await readLong()
    const last = list.starts.at(-1)?.[0] ?? 0
    type Newest = { hits: { total: { value: number }; hits: { _source: { height: number } }[] } }
    for (let number = 0; number < last; number++) {
      const names = ['blocks', 'transactions', 'records'].map(index => partition(index, number))
      const query = '_search?size=1000&_source=height&sort=height:desc&track_total_hits=true'
      const { hits } = await ask<Newest>('GET', `${opened.url}/${names.join(',')}/${query}`)
      const heights = hits.hits.map(({ _source }) => _source.height)
      const ofLast = heights.filter(height => height === heights[0]).length
      expect(hits.total.value).toBeGreaterThanOrEqual(PARTITION)
      expect(hits.total.value - ofLast).toBeLessThan(PARTITION)
    }
  })

  test('merge: finished partitions are merged once and made read-only, and answers stay the same', async () => {
    const before = await readLong()
    await mergeAll(opened.store)
    const again = await mergeAll(opened.store)
    expect(again.length).toBeGreaterThan(30)
    const skipped = again.map((_, at) => ({ state: 'skipped', at: at + 1, of: again.length }))
    expect(again).toMatchObject(skipped)
    expect(await readLong()).toEqual(before)
    expect(String(await opened.ask('PUT', 'blocks-000000/_create/x', {}).catch(String))).toContain('403')
    const names = again.map(({ name }) => name)
    expect(names).not.toContain(partition('records', names.length / 3))
  })
})

/** Blocks 0 to 2 finish partition 0. Block 3 is in the next partition. */
const finished = tellingBatch(0, 2)
const opening = batchOf(3, 3, { filling: { partition: 1, documents: 1 } })
const batches = [finished, opening]

/** A store behind a faulty proxy. `through` uses the proxy, `target.store` does not. */
const openPlace = () => openBehindProxy({ leaseMs: 300, clock: { sleep: () => Bun.sleep(1), random: () => 0 } })
const merged = async (store: ElasticStore) => (await mergeAll(store)).map(({ state }) => state)

const isMerge = ({ path }: Asked): boolean => path.includes('_forcemerge')

describe.skipIf(elasticsearchUrl() === undefined)('merging behind a faulty proxy', () => {
  test('merge: requests with lost answers are repeated, a failed merge is reported and repaired by the next, and an abort ends the wait', async () => {
    await using place = await openPlace()
    const { target, faults, through } = place
    const writer = await target.store.takeOver(identity)
    for (const batch of batches) await commitBatch(writer, batch)
    const failedShard = { status: 200, body: '{"_shards":{"total":1,"successful":0,"failed":1}}' }
    faults.fateOf = asked => (isMerge(asked) ? { type: 'change', to: () => failedShard } : pass)
    expect(await failureOf(merged(through))).toMatchObject({
      ...{ kind: 'unavailable', retryable: true },
      message: expect.stringContaining(`${target.prefix}-blocks-000000`),
    })
    let lost = 0
    faults.fateOf = asked => (isMerge(asked) && lost++ === 0 ? { type: 'cut-after' } : pass)
    // The first partition was merged although the answer was lost.
    expect(await merged(through)).toEqual(['skipped', 'merged', 'merged'])
    expect(lost).toBe(3)
    expect(await merged(through)).toEqual(['skipped', 'skipped', 'skipped'])
    await commitBatch(writer, batchOf(4, 4, { filling: { partition: 1, documents: 2 } }))
    await commitBatch(writer, batchOf(5, 5, { filling: { partition: 2, documents: 1 } }))
    expect(await target.store.published()).toEqual(publishedAt(5))
    const stop = new AbortController()
    faults.fateOf = asked => {
      if (!isMerge(asked)) return pass
      stop.abort()
      return { type: 'hold', until: Promise.withResolvers().promise }
    }
    expect(await kindOf(through.partitions.merge({ signal: stop.signal, onProgress: () => {} }))).toBe('deadline')
  })

  test('merge: a replaced loader gets a conflict and is not held up by read-only indices', async () => {
    await using place = await openPlace()
    const { target, faults, through } = place
    const silent = await through.takeOver(identity)
    const [woken, asleep] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    faults.fateOf = () => {
      asleep.resolve()
      return { type: 'hold', until: woken.promise }
    }
    const late = kindOf(commitBatch(silent, finished))
    await asleep.promise
    const next = await target.reopen({ openStateFile: openOtherState }).takeOver(identity)
    for (const batch of batches) await commitBatch(next, batch)
    expect(await merged(target.store)).toEqual(['merged', 'merged', 'merged'])
    woken.resolve()
    expect(await late).toBe('conflict')
    expect(await target.store.published()).toEqual(publishedAt(3))
    const stored = await target.store.read(view => view.getMany(blocks, [0, 1, 2, 3].map(blockId)))
    expect<unknown>(stored).toEqual([0, 1, 2, 3].map(height => blockDoc(height)))
  })
})
