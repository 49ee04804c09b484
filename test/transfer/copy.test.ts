import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import type { Store } from '#store/port.ts'
import { copyStore } from '#transfer/copy.ts'
import { copyKeys } from '#transfer/keys.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { runKilled } from '../support/processes/killed-runs.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { damageableSqlite, readAll } from '../support/stores/damage.ts'
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
  const parted = ['--partition-documents', String(PARTITION)] as readonly string[]
  const kinds = {
    SQLite: { make: () => sqlitePlace(), first: 200, args: [] as readonly string[] },
    Elasticsearch: { make: () => elasticPlace(PARTITION), first: 40, args: parted },
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

  test.each([
    ['SQLite', 'Elasticsearch'],
    ['Elasticsearch', 'SQLite'],
  ] as const)('%s to %s: after a kill at any write the next copy equals a loaded store', async (from, to) => {
    await using target = await kinds[to].make()
    const random = seeded(SEED)
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
  })

  const requireNothingFalse = async (store: Store): Promise<void> => {
    const answer = await store.read(async view => view.at.height).catch((error: Error) => error.message)
    if (answer !== HEIGHT)
      expect(String(answer)).toMatch(/repair|nothing is loaded|Nothing is loaded|not created|exist/)
  }

  test('a second run finds all documents in place, and a store with other content is refused', async () => {
    await using target = await sqlitePlace()
    for (const _ of ['copies', 'finds all in place'])
      expect(await copyStore(loaded.SQLite.store, target.store, quietly)).toMatchObject({ height: HEIGHT })
    expect(await target.dump()).toEqual(await loaded.SQLite.dump())
    await loadFrom(ARCHIVED, target.store, { to: HEIGHT + 1, prove: 'linked' })
    expect(copyStore(loaded.SQLite.store, target.store, quietly)).rejects.toThrow('has blocks already')
  })

  test.each(Object.keys(kinds) as Kind[])('to %s, a second run gives keys their current terms', async kind => {
    await using source = await sqlitePlace()
    await using target = await kinds[kind].make()
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
  })
})

test('copy: a differing copy is refused with the name of its index, and remains unreadable', async () => {
  await using source = await damageableSqlite()
  await using target = await damageableSqlite()
  await loadFrom(ARCHIVED, source.store, { to: 60 })
  const [{ id } = { id: '' }] = await readAll(source, balances)
  let isDone = false
  // A written document is damaged before the comparison.
  const audit: Store['audit'] = async () => {
    if (!isDone) await target.change(balances, id, 'amount', 1n)
    isDone = true
    return await target.store.audit()
  }
  const spoiled = copyStore(source.store, { ...target.store, audit }, quietly)
  await expect(spoiled).rejects.toThrow(': balances has the digest')
  await expect(target.reopen().read(async view => view.at)).rejects.toThrow('repair')
  expect(await copyStore(source.store, target.store, quietly)).toMatchObject({ height: 60 })
  expect(await target.dump()).toEqual(await source.dump())
})
