import { describe, expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import { keyring } from '#keys/keyring.ts'
import type { Store } from '#store/port.ts'
import { identity } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { elasticsearchUrl, type TestElastic } from '#test/support/stores/elasticsearch.ts'
import { loadedTo, onLoaded } from './on-loaded.ts'

const NOW = Date.UTC(2026, 10, 21)
const { key, stored } = createKey('a', { perSecond: 3, perDay: 7 }, { now: NOW })

const remove = (target: TestElastic) => ask('DELETE', `${target.url}/${target.prefix}-keys-0`)

/** Replaces the index by another one, as `indices create` would create it. */
async function replace(target: TestElastic): Promise<void> {
  const path = `${target.url}/${target.prefix}-keys-0`
  const [told] = Object.values(
    await ask<Record<string, { readonly mappings: object; readonly aliases: object }>>('GET', path),
  )
  await remove(target)
  await ask('PUT', `${path}?wait_for_active_shards=1`, {
    mappings: told?.mappings,
    aliases: told?.aliases,
    settings: { number_of_replicas: 0 },
  })
}

/** Points the alias to an index that another program created. */
async function redirect(target: TestElastic): Promise<void> {
  const [index, alias, other] = ['keys-0', 'keys', 'other'].map(name => `${target.prefix}-${name}`)
  await ask('PUT', `${target.url}/${other}?wait_for_active_shards=1`, {
    mappings: { properties: { created: { type: 'long' } } },
  })
  await ask('POST', `${target.url}/_aliases`, {
    actions: [{ remove: { index, alias } }, { add: { index: other, alias } }],
  })
}

const withBlocks = (work: (target: TestElastic) => Promise<void>) =>
  onLoaded(() => loadedTo(3, { retryTimeoutMs: 2_000 }), work)

const check = (store: Store) => keyring({ store: store.keys, clock: handClock(NOW) }).check(key)

describe.skipIf(elasticsearchUrl() === undefined)('an index of keys', () => {
  for (const [name, damage, kind] of [
    ['that was deleted', remove, 'damaged'],
    ['that is another one', replace, 'damaged'],
    ['whose alias leads elsewhere', redirect, 'unavailable'],
  ] as const)
    test(`${name}: no key is called unknown, added or revoked`, () =>
      withBlocks(async target => {
        await target.store.keys.add(stored)
        const service = target.reopen()
        expect((await check(service)).id).toBe(stored.id)
        await damage(target)
        // A process that had read the index before, and a new one.
        for (const store of [service, target.reopen()]) {
          expect((await failureOf(check(store))).kind).toBe(kind)
          for (const call of [
            () => store.keys.list(),
            () => store.keys.add({ ...stored, id: 'b' }),
            () => store.keys.revoke(stored.id, NOW),
          ]) {
            const refused = await failureOf(call())
            expect(refused.kind).toBe(kind)
            expect(refused.message).toContain(`${target.prefix}-keys-0`)
            expect(refused.help).toMatch(/iostlens repair|iostlens indices create/)
          }
        }
      }))

  test('whose alias leads elsewhere: indices create does not add it again, because its keys may be revoked there', () =>
    withBlocks(async target => {
      await redirect(target)
      await failureOf(target.reopen().create())
      const path = `${target.url}/${target.prefix}-keys-0`
      const [told] = Object.values(await ask<Record<string, { readonly aliases: object }>>('GET', path))
      expect(told?.aliases).toEqual({})
    }))

  test('a repair accepts the index of keys in its current form', () =>
    withBlocks(async target => {
      await target.store.keys.add(stored)
      await remove(target)
      const other = target.reopen()
      expect((await failureOf(other.takeOver(identity))).kind).toBe('damaged')
      expect((await failureOf(other.create())).kind).toBe('damaged')
      const repair = await other.takeOver(identity, { repair: true })
      await repair.accept?.()
      await repair.release()
      expect(await other.keys.list()).toEqual([])
      await other.keys.add(stored)
      expect((await check(target.reopen())).id).toBe(stored.id)
      await (await other.takeOver(identity)).release()
    }))
})
