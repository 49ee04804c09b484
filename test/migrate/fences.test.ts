import { describe, expect, test } from 'bun:test'
import { wealth } from '#indices/wealth.ts'
import type { Replay } from '#test/replay/serve.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { refusal } from '../support/refusal.ts'
import { differences, dumpElastic } from '../support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '../support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom, replayed } from '../support/stores/loading.ts'

const HEIGHT = 30
/** The renewal interval is so long that another loader regards it as dead at once. */
const ASLEEP_MS = 3_600_000
/** Runs `work` with a store loaded up to `HEIGHT` and with its node. */
async function withLoaded(work: (target: TestElastic, node: Replay) => Promise<void>): Promise<void> {
  await using node = await replayed(HEIGHT)
  const target = openTestElastic()
  try {
    await loadFrom(ARCHIVED, target.store, { to: HEIGHT, prove: 'linked' })
    await work(target, node)
  } finally {
    await target.destroy()
  }
}

/** Closes the checkpoint of a generation, as a migration to the next one does right before its end. */
async function retire({ ask }: TestElastic, generation: number): Promise<void> {
  const path = `meta-${generation}/_doc/checkpoint`
  const { _source } = await ask<{ _source: { body: string } }>('GET', path)
  const body = JSON.stringify({ ...JSON.parse(_source.body), retired: generation + 1 })
  await ask('PUT', path, { body })
}

describe.skipIf(elasticsearchUrl() === undefined)('indices migrate: a process that paused or died', () => {
  test('a loader from before a swap writes nothing into indices of any generation', () =>
    withLoaded(async (target, node) => {
      const identity = await target.store.identity()
      if (identity === undefined) throw new Error('Nothing is loaded.')
      await using folder = await cliFolder()
      const store = ['--store', `${target.url}/${target.prefix}`, '--lease', '1s']
      const migrate = ['indices', 'migrate', ...store, '--log-level', 'warn']
      for (const generation of [0, 1]) {
        const sleeper = await target.reopen({ leaseMs: ASLEEP_MS }).takeOver(identity)
        await target.ask('PUT', `state-${generation}/_mapping`, {
          _meta: { schema: 1, fingerprint: 'of an older one' },
        })
        expect(await folder.run(migrate)).toMatchObject({ code: 0, err: '' })
        const before = await dumpElastic(target.url, target.prefix)
        expect(before.has('wealth/admin')).toBe(true)
        const doc = await target.store.read(view => view.get(wealth, 'admin'))
        if (doc === undefined) throw new Error('There is no admin.')
        const wrong = { ...doc, total: doc.total + 1n }
        const rewrite = { put: [{ index: wealth, doc: wrong }], remove: [], unplace: [] }
        expect((await refusal(sleeper.rewrite(rewrite))).en).toContain('Another loader has taken over')
        await sleeper.release()
        await target.ask('POST', '*/_refresh')
        expect(differences(await dumpElastic(target.url, target.prefix), before)).toEqual([])
        expect(await target.store.check()).toEqual([])
      }
      expect(await loadFrom(node.url, target.store)).toBe(HEIGHT)
    }))

  test('a migration stopped right before its end keeps loaders away until it is run again; a rollback after it serves the same indices, not kept older ones', () =>
    withLoaded(async (target, node) => {
      const identity = await target.store.identity()
      if (identity === undefined) throw new Error('Nothing is loaded.')
      await retire(target, 0)
      expect((await refusal(target.store.takeOver(identity))).en).toContain('A migration is replacing the indices')
      expect((await target.store.published())?.height).toBe(HEIGHT)
      await target.store.migrating.reopen?.()
      expect(await loadFrom(node.url, target.store)).toBe(HEIGHT)

      await using folder = await cliFolder()
      const store = ['--store', `${target.url}/${target.prefix}`, '--lease', '1s']
      await target.ask('PUT', 'state-0/_mapping', { _meta: { schema: 1, fingerprint: 'of an older one' } })
      expect((await folder.run(['indices', 'migrate', ...store])).code).toBe(0)
      await retire(target, 1)
      expect((await folder.run(['indices', 'rollback', ...store])).code).toBe(0)
      expect(Object.keys(await target.ask<object>('GET', 'meta'))).toEqual([`${target.prefix}-meta-1`])
      expect(await loadFrom(node.url, target.reopen())).toBe(HEIGHT)
    }))
})
