import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type WealthDoc, wealth } from '#indices/wealth.ts'
import { openElastic } from '#store/elastic/open-elastic.ts'
import type { Store } from '#store/port.ts'
import { openStateFile } from '#store/sqlite/state-file.ts'
import type { StateFile } from '#store/state-port.ts'
import { identity, tellingBatch } from '#test/store/suite/fixture.ts'
import { openProxy, pass } from '#test/support/nodes/faulty-proxy.ts'
import { failureOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { differences, dumpElastic } from '#test/support/stores/dump.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom } from '#test/support/stores/loading.ts'
import { openOtherState, removeTestState } from '#test/support/stores/test-state.ts'
import { testFolder } from '#test/support/test-folder.ts'

const folder = testFolder()
let target: TestElastic

beforeAll(async () => {
  if (elasticsearchUrl() === undefined) return
  target = openTestElastic()
  await target.store.create()
})
afterAll(() => target?.destroy())

/** A loader with this file. `fetched`: the number of documents that it has fetched from the store into its file. */
async function takeOver(file: string, { repair = false } = {}) {
  let fetched = 0
  const openFile = () => {
    const opened = openStateFile(join(folder, file))
    const put: StateFile['put'] = (docs, mark) => {
      const all = [...docs]
      fetched += all.length
      return opened.put(all, mark)
    }
    // `mark` is a getter.
    return Object.create(opened, { put: { value: put } }) as StateFile
  }
  const store = target.reopen({ openStateFile: openFile })
  const writer = await store.takeOver(identity, { repair })
  const end = async (): Promise<void> => {
    await writer.release()
    await store.close()
  }
  return { writer, fetched: () => fetched, end }
}
const load = (store: Store, to: number) => loadFrom(ARCHIVED, store, { to, prove: 'linked' })
const wealthAt = (height: number) =>
  tellingBatch(height, height).changes.flatMap(({ index, doc }) => (index === wealth ? [doc as WealthDoc] : []))

/** Commits blocks with a loader whose file is `file`; returns the number of documents that were fetched before. */
async function loadWith(file: string, first: number, last: number): Promise<number> {
  const { writer, fetched, end } = await takeOver(file)
  const state = await writer.openState()
  const before = fetched()
  if (first > 0) for (const doc of wealthAt(first - 1)) expect<unknown>(state.get(wealth, doc.id)).toEqual(doc)
  for (let height = first; height <= last; height++) await commitBatch(writer, tellingBatch(height, height))
  for (const doc of wealthAt(last)) expect<unknown>(state.get(wealth, doc.id)).toEqual(doc)
  await end()
  return before
}

test.skipIf(elasticsearchUrl() === undefined)(
  'state file: a loader copies what its file lacks: all, nothing, what other loaders changed meanwhile, or all after a repair has changed documents',
  async () => {
    expect(await loadWith('one', 0, 1)).toBe(0)
    // The file has the last batch.
    expect(await loadWith('one', 2, 2)).toBe(0)
    // Another machine, without a file.
    expect(await loadWith('two', 3, 3)).toBeGreaterThan(0)
    // The first file lacks one batch.
    expect(await loadWith('one', 4, 4)).toBe(tellingBatch(3, 3).changes.length)

    const { writer, end } = await takeOver('repair', { repair: true })
    const [doc] = wealthAt(4)
    if (doc === undefined) throw new Error('The batch changes no wealth.')
    await writer.rewrite({ put: [{ index: wealth, doc: { ...doc, vote: 77n } as WealthDoc }], remove: [], unplace: [] })
    await writer.accept?.()
    await end()
    const other = await takeOver('one')
    expect((await other.writer.openState()).get(wealth, doc.id)?.vote).toBe(77n)
    await other.end()
  },
)

test.skipIf(elasticsearchUrl() === undefined)(
  'state file: one that was filled in part, for another store, is emptied before an empty store is loaded',
  async () => {
    const file = openStateFile(join(folder, 'part'))
    const [doc] = wealthAt(4)
    if (doc === undefined) throw new Error('The batch changes no wealth.')
    await file.put([{ index: wealth, doc }])
    file.close()
    await using empty = openTestElastic()
    await empty.store.create()
    const store = empty.reopen({ openStateFile: () => openStateFile(join(folder, 'part')) })
    const writer = await store.takeOver(identity)
    expect((await writer.openState()).get(wealth, doc.id)).toBeUndefined()
  },
)

/** Loads up to a block with a loader that dies once its last batch is announced, before all state is sent. */
async function dieWhileSending({ url, prefix }: TestElastic, to: number): Promise<void> {
  const { promise: announced, resolve: announce } = Promise.withResolvers<void>()
  const { promise: never } = Promise.withResolvers<void>()
  let isAnnounced = false
  const proxy = await openProxy(url, ({ method, path, body }) => {
    if (isAnnounced) {
      announce()
      return { type: 'hold', until: never }
    }
    if (method === 'PUT' && path.includes('/_doc/checkpoint')) isAnnounced = body.includes(`\\"height\\":${to}`)
    return pass
  })
  const store = openElastic({ url: proxy.url, prefix, leaseMs: 600, openStateFile: openOtherState })
  const loading = load(store, to).catch(() => undefined)
  await announced
  await store.close()
  await proxy.close()
  await loading
}

test.skipIf(elasticsearchUrl() === undefined)(
  'state file: a load whose file is lost with a batch on its way goes on only to that height or above, and stores what a clean load stores',
  async () => {
    await using lost = openTestElastic()
    await using clean = openTestElastic()
    await load(lost.store, 20)
    await lost.store.close()
    removeTestState(lost.prefix)
    await dieWhileSending(lost, 50)
    expect(await failureOf(load(lost.reopen(), 30))).toMatchObject({
      kind: 'usage',
      message:
        'A loader whose state file is lost had begun to store the blocks up to 50; loading cannot end at block 30.',
      help: 'Load at least up to block 50 (--to).',
    })
    removeTestState(lost.prefix)
    const store = lost.reopen()
    expect(await store.published()).toMatchObject({ height: 20 })
    expect([await load(store, 60), await load(clean.store, 60)]).toEqual([60, 60])
    const [stored, expected] = [await dumpElastic(lost.url, lost.prefix), await dumpElastic(clean.url, clean.prefix)]
    expect(differences(stored, expected)).toEqual([])
    expect(await store.check()).toEqual([])
  },
)
