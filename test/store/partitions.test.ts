import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hash8 } from '#chain/hash.ts'
import { blocks } from '#indices/block.ts'
import { type ListDoc, lists } from '#indices/list.ts'
import { blockId } from '#indices/position.ts'
import { DERIVATION } from '#indices/registry.ts'
import { transactions } from '#indices/transaction.ts'
import type { ElasticStore } from '#store/elastic/open-elastic.ts'
import type { MergeProgress, View } from '#store/port.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { type Asked, openProxy, pass } from '../support/nodes/faulty-proxy.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { type PlainRow, plainChain } from '../support/oracle/plain-records.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '../support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom } from '../support/stores/loading.ts'

/** History documents per partition. A block has about ten. */
const PARTITION = 1_000
const HEIGHT = 1_300

async function mergeAll(store: ElasticStore): Promise<readonly MergeProgress[]> {
  const told: MergeProgress[] = []
  const { signal } = new AbortController()
  await store.partitions.merge({ signal, onProgress: progress => told.push(progress) })
  return told.filter(({ state }) => state !== 'merging')
}
const countOf = (told: readonly MergeProgress[], wanted: MergeProgress['state']): number =>
  told.filter(({ state }) => state === wanted).length

const shownPlain = ({ height, hash, index }: PlainRow) => ({ height, hash, index })
const rowsOf = async (view: View, list: ListDoc, first: number, last: number) =>
  (await view.records(list, first, last)).map(({ height, tx_hash, index }) => ({
    height,
    hash: tx_hash,
    index,
  }))

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
    await loadFrom(ARCHIVED, opened.store, { to: 300 })
    const first = await mergeAll(opened.store)
    expect(countOf(first, 'merged')).toBe(first.length)
    // Merging runs during the load: it merges finished partitions and leaves the unfinished one alone.
    let loading = true
    const load = loadFrom(ARCHIVED, opened.store, { to: HEIGHT }).finally(() => {
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
      for (const [key, rows] of [...plain].filter((_, at) => SOAK || at % 8 === 0)) {
        const list = await listOf(view, key)
        const expected = rows.map(shownPlain)
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

  test('blocks by height and transactions by hash are found in any partition', async () => {
    const read = (await recordedBlocks()).slice(0, HEIGHT + 1)
    await opened.store.read(async view => {
      for (const { block } of read.filter(({ block: { height } }) => height % 17 === 0)) {
        expect((await view.get(blocks, blockId(block.height)))?.hash).toBe(block.hash)
        const hash = block.transactions[1]?.hash
        if (hash === undefined) continue
        const found = await view.find(transactions, 'hash8', hash8(hash))
        expect(found.map(({ height }) => height)).toContain(block.height)
      }
    })
  })

  test('each finished partition contains the configured number of documents, up to its last block', async () => {
    const { list } = await readLong()
    const last = list.starts.at(-1)?.[0] ?? 0
    for (let number = 0; number < last; number++) {
      const names = ['blocks', 'transactions', 'records'].map(index => partition(index, number))
      const all = `${opened.url}/${names.join(',')}`
      const { hits, aggregations } = await ask<{
        hits: { total: { value: number } }
        aggregations: { last: { value: number } }
      }>('POST', `${all}/_search?size=0`, {
        track_total_hits: true,
        aggs: { last: { max: { field: 'height' } } },
      })
      type Newest = { hits: { hits: { _source: { height: number } }[] } }
      const end = await ask<Newest>('GET', `${all}/_search?size=1000&_source=height&sort=height:desc`)
      const newest = end.hits.hits
      const ofLast = newest.filter(({ _source }) => _source.height === aggregations.last.value).length
      expect(hits.total.value).toBeGreaterThanOrEqual(PARTITION)
      expect(hits.total.value - ofLast).toBeLessThan(PARTITION)
    }
  })

  test('merge: finished partitions are merged once and made read-only, and answers stay the same', async () => {
    const before = await readLong()
    await mergeAll(opened.store)
    const again = await mergeAll(opened.store)
    expect(again.length).toBeGreaterThan(30)
    expect(countOf(again, 'skipped')).toBe(again.length)
    expect(again.map(({ at, of }) => [at, of])).toEqual(again.map((_, at) => [at + 1, again.length]))
    expect(await readLong()).toEqual(before)
    const refused = await fetch(`${opened.url}/${partition('blocks', 0)}/_create/x`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect(refused.status).toBe(403)
    const names = again.map(({ name }) => name)
    expect(names).not.toContain(partition('records', names.length / 3))
  })

  test('a lost partition is reported and not created again', async () => {
    expect(await opened.store.check()).toEqual([])
    await fetch(`${opened.url}/${partition('records', 3)}`, { method: 'DELETE' })
    const differences = await opened.store.check()
    expect(differences.map(({ name, problem }) => [name, problem])).toEqual([['records-000003', 'lost']])
    const refused = await failureOf(opened.store.create())
    expect(refused.kind).toBe('damaged')
    expect(refused.message).toMatch(/records-000003 \(blocks from \d+ on\)/)
    const identity = await opened.store.identity()
    const taken = opened.store.takeOver(identity ?? { chainId: 0, genesis: '', derivation: DERIVATION })
    expect((await failureOf(taken)).message).toContain('records-000003')
  })
})

test.skipIf(elasticsearchUrl() === undefined)('merge: an empty store has nothing to merge', async () => {
  const { store, destroy } = openTestElastic()
  try {
    expect(await mergeAll(store)).toEqual([])
    await store.create()
    expect(await mergeAll(store)).toEqual([])
  } finally {
    await destroy()
  }
})

test.skipIf(elasticsearchUrl() === undefined)(
  'the command line: partitions get the configured size and are merged, and finished work is reported',
  async () => {
    const { url, prefix, destroy } = openTestElastic()
    await using folder = await cliFolder()
    try {
      const store = ['--store', `${url}/${prefix}`]
      const load = ['load', '--node', ARCHIVED, '--once', '--to', '120', '--partition-documents', '60', ...store]
      expect(await folder.run(load)).toMatchObject({ code: 0, out: 'Loaded up to block 120.\n' })
      const merge = () => folder.run(['indices', 'merge', ...store])
      const first = await merge()
      const [, count = ''] = /(\d+) indices merged, 0 were merged before\.\n$/.exec(first.out) ?? []
      expect([first.code, Number(count) % 3]).toEqual([0, 0])
      expect(first.out).toContain(`${prefix}-blocks-000000: merged, 1 of ${count}\n`)
      expect(await merge()).toEqual({
        code: 0,
        out: `Finished partitions of ${url}/${prefix}: 0 indices merged, ${count} were merged before.\n`,
        err: '',
      })
    } finally {
      await destroy()
    }
  },
)
