import { describe, expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import { identity } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { elasticsearchUrl, type TestElastic } from '#test/support/stores/elasticsearch.ts'
import { withBlocks } from './with-blocks.ts'

/** Stores whose API keys were moved by a migration of an earlier version that did not record it. */

const [good, bad] = ['good', 'bad'].map(name => createKey(name, { perSecond: 3, perDay: 7 }, { now: 1 }).stored) as [
  Stored,
  Stored,
]
type Stored = ReturnType<typeof createKey>['stored']

const asking =
  ({ url, prefix }: TestElastic) =>
  <T>(method: string, path: string, body?: object): Promise<T> =>
    ask<T>(method, `${url}/${prefix}-${path}`, body)

/** Copies the keys to their next index, points the alias to it alone, and revokes a key there. */
const move = async (target: TestElastic): Promise<void> => {
  const { url, prefix } = target
  const [told] = Object.values(await asking(target)<Record<string, { readonly mappings: object }>>('GET', 'keys-0'))
  const [before, after, alias] = ['keys-0', 'keys-1', 'keys'].map(name => `${prefix}-${name}`)
  await asking(target)('PUT', 'keys-1?wait_for_active_shards=1', {
    mappings: told?.mappings,
    aliases: { [`${prefix}-keys-v1`]: {} },
    settings: { number_of_replicas: 0 },
  })
  type Found = {
    readonly hits: { readonly hits: readonly { readonly _id: string; readonly _source: object }[] }
  }
  const { hits } = await asking(target)<Found>('GET', 'keys-0/_search')
  for (const { _id, _source } of hits.hits) await asking(target)('PUT', `keys-1/_doc/${_id}?refresh=true`, _source)
  await ask('POST', `${url}/_aliases`, {
    actions: [{ remove: { index: before, alias } }, { add: { index: after, alias, is_write_index: true } }],
  })
  expect(await target.reopen().keys.revoke(bad.id, 5)).toBe(true)
}

/** Whether each key is revoked, as a new process reads it. */
const revoked = async (target: TestElastic) =>
  Object.fromEntries((await target.reopen().keys.list()).map(({ name, revoked }) => [name, revoked !== undefined]))
const RIGHT = { good: false, bad: true }

const isBehindAlias = async (target: TestElastic, index: string): Promise<boolean> => {
  const [told] = Object.values(await asking(target)<Record<string, { readonly aliases: object }>>('GET', index))
  return `${target.prefix}-keys` in (told?.aliases ?? {})
}

const withMoved = (work: (target: TestElastic) => Promise<void>): Promise<void> =>
  withBlocks(async target => {
    for (const key of [good, bad]) await target.store.keys.add(key)
    await move(target)
    await work(target)
  })

describe.skipIf(elasticsearchUrl() === undefined)('API keys that were moved', () => {
  test('moved keys are served from their new index, and indices create restores none that was revoked', () =>
    withMoved(async target => {
      expect(await revoked(target)).toEqual(RIGHT)
      expect(await target.store.check()).toEqual([])
      await target.reopen().create()
      expect(await isBehindAlias(target, 'keys-0')).toBe(false)
      expect(await revoked(target)).toEqual(RIGHT)
    }))

  test('moved keys are recorded by the next loader, also if the previous index is gone', async () => {
    for (const isGone of [false, true])
      await withMoved(async target => {
        if (isGone) await asking(target)('DELETE', 'keys-0')
        const writer = await target.reopen().takeOver(identity)
        await writer.release()
        expect(await revoked(target)).toEqual(RIGHT)
        expect(await target.reopen().check()).toEqual([])
        const { _source } = await asking(target)<{ _source: { body: string } }>('GET', 'meta/_doc/published')
        const { generations, inventory } = JSON.parse(_source.body)
        const keys = Object.keys(inventory.indices).filter(name => name.startsWith(`${target.prefix}-keys-`))
        expect([generations.keys, keys]).toEqual([1, [`${target.prefix}-keys-1`]])
        // From now on this index is the known one.
        await asking(target)('DELETE', 'keys-1')
        expect((await failureOf(target.reopen().keys.list())).kind).toBe('damaged')
      })
  })

  test('moved keys are refused while the alias still includes the previous index, until indices create or a loader runs', async () => {
    for (const heal of [
      (target: TestElastic) => target.reopen().create(),
      async (target: TestElastic) => (await target.reopen().takeOver(identity)).release(),
    ])
      await withMoved(async target => {
        const [index, alias] = ['keys-0', 'keys'].map(name => `${target.prefix}-${name}`)
        await ask('POST', `${target.url}/_aliases`, { actions: [{ add: { index, alias } }] })
        const refused = await failureOf(target.reopen().keys.list())
        expect([refused.kind, refused.help]).toEqual(['unavailable', "Run: 'iostlens indices create'."])
        await heal(target)
        expect(await isBehindAlias(target, 'keys-0')).toBe(false)
        expect(await revoked(target)).toEqual(RIGHT)
      })
  })
})
