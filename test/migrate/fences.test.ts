import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { wealth } from '#indices/wealth.ts'
import type { Store } from '#store/port.ts'
import type { Replay } from '#test/replay/serve.ts'
import { type Asked, type Fate, openProxy, pass } from '../support/nodes/faulty-proxy.ts'
import { SOAK } from '../support/processes/soak.ts'
import { refusal } from '../support/refusal.ts'
import { differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../support/stores/loading.ts'

setDefaultTimeout(600_000)

const HEIGHT = 60
/** It signs so seldom that it is taken for dead at once. */
const ASLEEP_MS = 3_600_000
/** A migration is killed after every so many of its writes. */
const EACH = SOAK ? 1 : 2

const signal = new AbortController().signal

const proxied = async (url: string, fateOf: (asked: Asked) => Fate) => {
  const proxy = await openProxy(url, fateOf)
  return { url: proxy.url, [Symbol.asyncDispose]: () => proxy.close() }
}

/** Runs `work` with a store that is loaded up to `HEIGHT`, and its node. */
const withLoaded = async (work: (target: TestElastic, node: Replay) => Promise<void>): Promise<void> => {
  await using node = await replayed(HEIGHT)
  const target = openTestElastic()
  try {
    await loadFrom(node.url, target.store)
    await work(target, node)
  } finally {
    await target.destroy()
  }
}

describe.skipIf(elasticsearchUrl() === undefined)('indices migrate: a process that slept or died', () => {
  test('killed after any of its writes: the served data is whole, and the next run completes', () =>
    withLoaded(async (target, node) => {
      const before = await dumpElastic(target.url, target.prefix)
      const ranking = await richest(target.store)
      let generation = 0
      for (let writes = 1; ; writes += EACH) {
        await spoil(target.url, `${target.prefix}-wealth-${generation++}`)
        let [seen, dead] = [0, false]
        await using proxy = await proxied(target.url, ({ method, path }) => {
          if (dead) return { type: 'cut-before' }
          if (method === 'GET' || /_search|_pit|_mget|_refresh|_count/.test(path) || ++seen < writes)
            return pass
          dead = true
          return { type: 'cut-after' }
        })
        const dying = target.reopen({ url: proxy.url, patienceMs: 0 })
        const ended = await migrate(dying).then(
          () => 'done',
          () => 'died',
        )
        await dying.close()
        expect([writes, (await target.store.published())?.height]).toEqual([writes, HEIGHT])
        expect([writes, await richest(target.store)]).toEqual([writes, ranking])
        if (ended === 'done' && seen < writes) break
        // The last of its writes is the swap.
        if ((await target.store.migrating.plan()).way !== 'none') await migrate(target.store)
        expect([writes, await richest(target.store)]).toEqual([writes, ranking])
        expect([writes, await target.store.check()]).toEqual([writes, []])
        await target.store.migrating.removeLeftovers()
      }
      expect(generation).toBeGreaterThan(8 / EACH)
      await target.store.migrating.removeLeftovers()
      expect(differences(await dumpElastic(target.url, target.prefix), before)).toEqual([])
      expect((await target.store.migrating.plan()).leftovers).toEqual([])
      expect(await loadFrom(node.url, target.store)).toBe(HEIGHT)
    }))

  test('a loader from before a swap writes nothing any more, of any generation', () =>
    withLoaded(async (target, node) => {
      const identity = await target.store.identity()
      if (identity === undefined) throw new Error('Nothing is loaded.')
      for (const generation of [0, 1]) {
        const sleeper = await target.reopen({ leaseMs: ASLEEP_MS }).takeOver(identity)
        await spoil(target.url, `${target.prefix}-wealth-${generation}`)
        await migrate(target.store)
        const before = await dumpElastic(target.url, target.prefix)
        expect(before.has('wealth/admin')).toBe(true)
        const doc = await target.store.read(view => view.get(wealth, 'admin'))
        if (doc === undefined) throw new Error('There is no admin.')
        const wrong = { ...doc, total: doc.total + 1n }
        const rewrite = { put: [{ index: wealth, doc: wrong }], remove: [], unplace: [] }
        expect((await refusal(sleeper.rewrite(rewrite))).en).toContain('Another loader has taken over')
        await sleeper.release()
        await fetch(`${target.url}/${target.prefix}-*/_refresh`, { method: 'POST' })
        expect(differences(await dumpElastic(target.url, target.prefix), before)).toEqual([])
        expect(await target.store.check()).toEqual([])
      }
      expect(await loadFrom(node.url, target.store)).toBe(HEIGHT)
    }))

  test('a migration that was stopped right before its end keeps loaders away until it is run again', () =>
    withLoaded(async (target, node) => {
      const identity = await target.store.identity()
      if (identity === undefined) throw new Error('Nothing is loaded.')
      const checkpoint = `${target.url}/${target.prefix}-meta/_doc/checkpoint`
      const { _source } = (await (await fetch(checkpoint)).json()) as { _source: { body: string } }
      const body = JSON.stringify({ ...JSON.parse(_source.body), retired: 1 })
      await fetch(checkpoint, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ body }),
      })
      expect((await refusal(target.store.takeOver(identity))).en).toContain(
        'A migration is replacing the indices',
      )
      expect((await target.store.published())?.height).toBe(HEIGHT)
      await target.store.migrating.copying?.settle()
      expect(await loadFrom(node.url, target.store)).toBe(HEIGHT)
    }))

  test('a migration does not count when its source was written to meanwhile', () =>
    withLoaded(async target => {
      await spoil(target.url, `${target.prefix}-wealth-0`)
      // All is copied and compared when what is served is closed.
      await using proxy = await proxied(target.url, ({ body }) =>
        body.includes('retired')
          ? {
              type: 'hold',
              until: fetch(`${target.url}/${target.prefix}-wealth-0/_doc/admin`, { method: 'DELETE' }),
            }
          : pass,
      )
      const copying = migrate(target.reopen({ url: proxy.url }))
      expect((await refusal(copying)).en).toContain('was written to while it was being copied')
      expect((await target.store.migrating.plan()).way).toBe('copy')
      expect((await target.store.published())?.height).toBe(HEIGHT)
      const checkpoint = await fetch(`${target.url}/${target.prefix}-meta/_doc/checkpoint`)
      expect(await checkpoint.text()).not.toContain('retired')
    }))
})

const richest = (store: Store) =>
  store.read(view => view.page(wealth, 'richest', { offset: 0, limit: 1_000 }))

const migrate = async (store: Store): Promise<void> => {
  expect((await store.migrating.plan()).way).toBe('copy')
  await store.migrating.copying?.run({ signal, onProgress: () => undefined })
}

const spoil = async (url: string, index: string): Promise<void> => {
  const answer = await fetch(`${url}/${index}/_mapping`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ _meta: { schema: 1, fingerprint: 'of an older one' } }),
  })
  if (!answer.ok) throw new Error(await answer.text())
}
