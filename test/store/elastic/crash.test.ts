import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { lists } from '#indices/list.ts'
import { pledges } from '#indices/pledge.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { wealth } from '#indices/wealth.ts'
import type { Store, View } from '#store/port.ts'
import { identity, listAt, publishedAt, tellingBatch } from '#test/store/suite/fixture.ts'
import { type Asked, openProxy, pass } from '#test/support/nodes/faulty-proxy.ts'
import { bundled } from '#test/support/processes/bundled.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'
import { removeTestState } from '#test/support/stores/test-state.ts'
import { crashBatch, partitionEnd } from './crash-loader.ts'

const LOADER = join(import.meta.dir, 'crash-loader.ts')
/** More requests than a loader needs to take the store over and for its two batches. */
const MOST_STEPS = { 'has its file': 120, 'has lost it': 600 } as const
/** Requests from one kill to the next: with SOAK a loader is killed at every request, else at some of all kinds. */
const STRIDE = SOAK ? { 'has its file': 1, 'has lost it': 1 } : { 'has its file': 8, 'has lost it': 17 }

/**
 * Runs a loader that is killed when the server has handled its request number `step`. Returns false if the
 * loader completed.
 */
async function loadUntil(target: TestElastic, step: number): Promise<boolean> {
  let loader: Bun.Subprocess | undefined
  let killed = false
  const proxy = await openProxy(target.url, ({ number }: Asked) => {
    // Concurrent requests never reach the server. They must not fail before the loader is killed either.
    if (number !== step) return number < step ? pass : { type: 'hold', until: Promise.withResolvers().promise }
    const run = () => {
      killed = true
      loader?.kill('SIGKILL')
    }
    return { type: 'end', run }
  })
  loader = Bun.spawn([process.execPath, await bundled(LOADER), proxy.url, target.prefix], {
    stderr: 'inherit',
  })
  const code = await loader.exited
  await proxy.close()
  if (!killed) expect(code).toBe(0)
  return killed
}

/** All parts of a view that depend on its height. */
async function seen(view: View) {
  const [counted, list, owners, own] = await Promise.all([
    view.get(statistics, STATISTICS),
    view.get(lists, listAt(0).id),
    view.page(wealth, 'richest', { offset: 0, limit: 10 }),
    view.page(pledges, 'ofPledger', { group: 'p', offset: 0, limit: 1000 }),
  ])
  const rows = list === undefined ? [] : await view.records(list, 1, list.count)
  return {
    at: view.at,
    count: counted?.transaction_count,
    owners: owners.map(({ id, total }) => [id, total]),
    rows: rows.map(({ height }) => height),
    own: own.map(({ seq }) => seq),
  }
}

function expectWhole(view: Awaited<ReturnType<typeof seen>>) {
  const { height } = view.at
  const batch = tellingBatch(height, height)
  const owners = batch.changes.flatMap(({ index, doc }) =>
    index.name === 'wealth' ? [[doc.id, (doc as { total: bigint }).total]] : [],
  )
  const heights = Array.from({ length: height + 1 }, (_, at) => at)
  expect<unknown>(view).toEqual({
    at: publishedAt(height),
    count: height,
    owners,
    rows: heights,
    own: heights,
  })
}

/** Reads while nothing writes. Returns a whole height, or that readers wait for the next loader. */
async function look(store: Store, waitMs = 250): Promise<number | 'waiting'> {
  try {
    const view = await store.read(seen, { signal: AbortSignal.timeout(waitMs) })
    expectWhole(view)
    return view.at.height
  } catch (error) {
    if (error instanceof Failure && error.kind === 'deadline') return 'waiting'
    if (error instanceof Failure && error.message.endsWith('nothing is loaded yet.')) return -1
    throw error
  }
}

/** Ids and texts of all documents, without the height of the batch that wrote them. */
async function contents({ url, prefix }: TestElastic) {
  const data = ['blocks', 'transactions', 'records', 'state', 'series'].map(name => `${prefix}-${name}`).join(',')
  type Answer = { hits: { hits: { _index: string; _id: string; _source: Record<string, unknown> }[] } }
  const { hits } = await ask<Answer>('GET', `${url}/${data}/_search?size=10000`)
  return hits.hits
    .map(
      ({ _index, _id, _source: { at: _, before: __, ...source } }) =>
        [_index.slice(prefix.length), _id, source] as const,
    )
    .toSorted(([a, x], [b, y]) => (`${a} ${x}` < `${b} ${y}` ? -1 : 1))
}

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  test.each(['has its file', 'has lost it'] as const)(
    'commit: after a kill at any request, including those that open a partition, readers see whole heights and the next loader, which %s, stores the same as an undisturbed one',
    async file => {
      const target = openTestElastic()
      const clean = openTestElastic()
      try {
        await Promise.all([target.store.create(), clean.store.create()])
        let highest = -1
        let step = 1
        for (; await loadUntil(target, step); step += STRIDE[file]) {
          if (file === 'has lost it') removeTestState(target.prefix)
          const height = await look(target.store)
          if (height === 'waiting') continue
          expect(height).toBeGreaterThanOrEqual(highest)
          highest = height
          expect(step).toBeLessThan(MOST_STEPS[file])
        }
        // The kills have covered the requests of the protocol.
        expect(step).toBeGreaterThan(20)
        // The last loader completed, so this read only has to wait for a busy machine.
        const height = await look(target.store, 60_000)
        expect(height).toBeGreaterThan(10)
        const writer = await clean.store.takeOver(identity)
        for (let first = 0; first <= Number(height); first = partitionEnd(first) + 1)
          await commitBatch(writer, crashBatch(first, Math.min(Number(height), partitionEnd(first))))
        await writer.release()
        expect(await contents(target)).toEqual(await contents(clean))
      } finally {
        await Promise.all([target.destroy(), clean.destroy()])
      }
    },
  )
})
