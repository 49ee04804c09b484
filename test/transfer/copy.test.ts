import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import type { Store } from '#store/port.ts'
import { copyStore } from '#transfer/copy.ts'
import { copyKeys } from '#transfer/keys.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { runKilled } from '../support/processes/killed-runs.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { damageableSqlite } from '../support/stores/damage.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom } from '../support/stores/loading.ts'
import { elasticPlace, type Place, sqlitePlace } from '../support/stores/place.ts'

/** The blocks just below this height have transactions. */
const HEIGHT = 760
/** Documents per partition: the copy has several partitions. */
const PARTITION = 450
const SEED = seedOf(37)
/** Growth of the limit of the write at which a process is killed, and so the number of kills. */
const GROWTH = SOAK ? 1.5 : 3

const quietly = { signal: new AbortController().signal, onProgress: () => undefined }
const storeArgument = ([kind, at, prefix]: readonly string[]): string =>
  kind === 'sqlite' ? `sqlite:${at}` : `${at}/${prefix}`

describe.skipIf(elasticsearchUrl() === undefined)('copy', () => {
  let folder: CliFolder
  const kinds = {
    SQLite: { make: () => sqlitePlace(), first: 200, args: [] as readonly string[] },
    Elasticsearch: {
      make: () => elasticPlace(PARTITION),
      first: 40,
      args: ['--partition-documents', String(PARTITION)],
    },
  } as const
  type Kind = keyof typeof kinds
  const loaded = {} as Record<Kind, Place>

  beforeAll(async () => {
    folder = await cliFolder()
    for (const kind of Object.keys(kinds) as Kind[]) {
      loaded[kind] = await kinds[kind].make()
      const { store } = loaded[kind]
      await loadFrom(ARCHIVED, store, { to: HEIGHT, prove: 'linked' })
      await store.keys.add({ id: 'key', hash: 'ab', name: 'wallet', perSecond: 1, perDay: 1, created: 1 })
    }
  })
  afterAll(async () => {
    for (const place of Object.values(loaded)) await place.destroy()
    await folder?.[Symbol.asyncDispose]()
  })

  const ways: readonly (readonly [Kind, Kind])[] = [
    ['SQLite', 'Elasticsearch'],
    ['Elasticsearch', 'SQLite'],
  ]
  for (const [from, to] of ways)
    test(`${from} to ${to}: after a kill at any write and a second run the copy equals a loaded store`, async () => {
      const target = await kinds[to].make()
      const random = seeded(SEED)
      try {
        const kills = await runKilled(
          SEED,
          target.args,
          before => 1 + Math.floor(random() * kinds[to].first * GROWTH ** before),
          async ({ store, environment }, before) => {
            if (before > 0) await requireNothingFalse(target.store)
            const source = ['--store', storeArgument(loaded[from].args)]
            return folder.start(['copy', ...source, '--to', store, '--lease', '1s', ...kinds[to].args], environment)
          },
        )
        expect(kills).toBeGreaterThan(1)
        // A copy to the same kind of store does not differ from a load, including where its partitions begin.
        expect(await target.dump()).toEqual(await loaded[to].dump())
        expect(await target.store.published()).toEqual(await loaded[from].store.published())
        expect((await target.store.keys.list()).map(({ name }) => name)).toEqual(['wallet'])
        expect(await loadFrom(ARCHIVED, target.store, { to: HEIGHT + 20, prove: 'linked' })).toBe(HEIGHT + 20)
      } finally {
        await target.destroy()
      }
    })

  /** An incomplete copy does not answer. A complete one may. */
  const requireNothingFalse = async (store: Store): Promise<void> => {
    const answer = await store.read(async view => view.at.height).catch((error: Error) => error.message)
    expect([
      answer,
      answer === HEIGHT || /repair|nothing is loaded|Nothing is loaded|not created|exist/.test(String(answer)),
    ]).toEqual([answer, true])
  }

  test('a second run finds all documents in place, and a store with other content is refused', async () => {
    const target = await sqlitePlace()
    try {
      for (const _ of ['copies', 'finds all in place'])
        expect(await copyStore(loaded.SQLite.store, target.store, quietly)).toMatchObject({ height: HEIGHT })
      expect(await target.dump()).toEqual(await loaded.SQLite.dump())
      await loadFrom(ARCHIVED, target.store, { to: HEIGHT + 1, prove: 'linked' })
      expect(copyStore(loaded.SQLite.store, target.store, quietly)).rejects.toThrow('has blocks already')
    } finally {
      await target.destroy()
    }
  })

  test.each(Object.keys(kinds) as Kind[])(
    'a second run gives keys their current terms at the source, to %s, and a revoked key stays revoked',
    async kind => {
      const [source, target] = [await sqlitePlace(), await kinds[kind].make()]
      try {
        for (const { store } of [source, target]) await store.create()
        const { keys } = source.store
        const plain = { hash: 'ab', name: 'wallet', perSecond: 1, perDay: 1, created: 1 }
        for (const id of ['changed', 'revoked', 'same']) await keys.add({ id, ...plain })
        await copyKeys(source.store, target.store)
        await keys.change('changed', now => ({ ...now, name: 'exchange', note: 'of May', perDay: 9 }))
        await keys.revoke('revoked', 5)
        await keys.add({ id: 'later', ...plain })
        await target.store.keys.revoke('changed', 7)
        await target.store.keys.revoke('revoked', 6)
        await copyKeys(source.store, target.store)
        const found = new Map((await target.store.keys.list()).map(key => [key.id, key]))
        expect([...found.values()].sort((a, b) => a.id.localeCompare(b.id))).toEqual([
          { id: 'changed', ...plain, name: 'exchange', note: 'of May', perDay: 9, revoked: 7 },
          { id: 'later', ...plain },
          { id: 'revoked', ...plain, revoked: 5 },
          { id: 'same', ...plain },
        ])
      } finally {
        await source.destroy()
        await target.destroy()
      }
    },
  )
})

test('copy: a differing copy is refused with the name of its index, and remains unreadable', async () => {
  const source = await damageableSqlite()
  const target = await damageableSqlite()
  try {
    await loadFrom(ARCHIVED, source.store, { to: 60 })
    const id =
      [...(await source.dump()).keys()].find(key => key.startsWith('balances/'))?.slice('balances/'.length) ?? ''
    let isDone = false
    const spoil = async (store: Store): Promise<Store> => ({
      ...store,
      // A written document is damaged before the comparison.
      audit: async () => {
        if (!isDone) await target.change(balances, id, 'amount', 1n)
        isDone = true
        return await store.audit()
      },
    })
    expect(copyStore(source.store, await spoil(target.store), quietly)).rejects.toThrow(': balances has the digest')
    await expect(target.reopen().read(async view => view.at)).rejects.toThrow('repair')
    expect(await copyStore(source.store, target.store, quietly)).toMatchObject({ height: 60 })
    expect(await target.dump()).toEqual(await source.dump())
  } finally {
    await source.destroy()
    await target.destroy()
  }
})
