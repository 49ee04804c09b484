import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type WealthDoc, wealth } from '#indices/wealth.ts'
import { openStateFile } from '#store/sqlite/state-file.ts'
import { identity, tellingBatch } from '#test/store/suite/fixture.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'
import { testFolder } from '#test/support/test-folder.ts'

const folder = testFolder()
let target: TestElastic

beforeAll(async () => {
  if (elasticsearchUrl() === undefined) return
  target = openTestElastic()
  await target.store.create()
})
afterAll(() => target?.destroy())

/** The state that a loader with this file sees, and the number of documents that it fetched for that. */
const takeOver = async (file: string, { repair = false } = {}) => {
  let fetched = 0
  const store = target.reopen({
    openStateFile: () => {
      const opened = openStateFile(join(folder, file))
      // `mark` is a getter.
      return Object.create(opened, {
        put: {
          value: (docs: Iterable<never>, mark: never) => {
            const all = [...docs]
            fetched += all.length
            return opened.put(all, mark)
          },
        },
      })
    },
  })
  const writer = await store.takeOver(identity, { repair })
  return { store, writer, fetched: () => fetched }
}
const wealthAt = (height: number) =>
  tellingBatch(height, height).changes.flatMap(({ index, doc }) => (index === wealth ? [doc as WealthDoc] : []))

/** Commits blocks with a loader whose file is `file`; returns the number of documents that were fetched before. */
const loadWith = async (file: string, first: number, last: number): Promise<number> => {
  const { store, writer, fetched } = await takeOver(file)
  const state = await writer.openState()
  const before = fetched()
  if (first > 0) for (const doc of wealthAt(first - 1)) expect<unknown>(state.get(wealth, doc.id)).toEqual(doc)
  for (let height = first; height <= last; height++) await commitBatch(writer, tellingBatch(height, height))
  for (const doc of wealthAt(last)) expect<unknown>(state.get(wealth, doc.id)).toEqual(doc)
  await writer.release()
  await store.close()
  return before
}

test.skipIf(elasticsearchUrl() === undefined)(
  'state file: a loader copies what its file lacks: all, nothing, or what other loaders changed meanwhile',
  async () => {
    expect(await loadWith('one', 0, 1)).toBe(0)
    // The file has the last batch.
    expect(await loadWith('one', 2, 2)).toBe(0)
    // Another machine, without a file.
    const all = await loadWith('two', 3, 3)
    expect(all).toBeGreaterThan(0)
    // The first file lacks one batch.
    const some = await loadWith('one', 4, 4)
    expect(some).toBe(tellingBatch(3, 3).changes.length)
  },
)

test.skipIf(elasticsearchUrl() === undefined)(
  'state file: after a repair has changed documents, every file is filled anew',
  async () => {
    const { store, writer } = await takeOver('repair', { repair: true })
    const [doc] = wealthAt(4)
    if (doc === undefined) throw new Error('The batch changes no wealth.')
    await writer.rewrite({ put: [{ index: wealth, doc: { ...doc, vote: 77n } as WealthDoc }], remove: [], unplace: [] })
    await writer.accept?.()
    await writer.release()
    await store.close()
    const other = await takeOver('one')
    const state = await other.writer.openState()
    expect(state.get(wealth, doc.id)?.vote).toBe(77n)
    await other.writer.release()
    await other.store.close()
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
    const empty = openTestElastic()
    await empty.store.create()
    const store = empty.reopen({ openStateFile: () => openStateFile(join(folder, 'part')) })
    const writer = await store.takeOver(identity)
    expect((await writer.openState()).get(wealth, doc.id)).toBeUndefined()
    await writer.release()
    await empty.destroy()
  },
)
