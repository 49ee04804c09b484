import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { blocks } from '#indices/block.ts'
import { lists } from '#indices/list.ts'
import { blockId } from '#indices/position.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { wealth } from '#indices/wealth.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import {
  blockDoc,
  identity,
  listAt,
  publishedAt,
  recordDoc,
  statisticsDoc,
  tellingBatch,
  totalAt,
  wealthDoc,
} from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { testFolder } from '#test/support/test-folder.ts'

/** Small, and longer than a slice, so that the loader dies within a transaction, between and inside its slices. */
const SIZES = '1,40,900,7'
const KILLS = 20
/** Blocks that the node is ahead of a batch: one that this thread writes, and one that another thread writes. */
const NEAR = 5
const FAR = 5_000

const folder = testFolder()

const startLoader = (path: string, behind = NEAR) =>
  Bun.spawn([process.execPath, join(import.meta.dir, 'crash-loader.ts'), path, SIZES, String(behind)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })

/** Lines of a loader as they come. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** Kills a loader after it has printed `lines` lines and some more turns; gives what it said it had committed and begun. */
const killedAfter = async (
  path: string,
  { lines, spin, behind }: { readonly lines: number; readonly spin: number; readonly behind: number },
) => {
  const loader = startLoader(path, behind)
  const said = { end: -1, begin: -1, from: -1 }
  let count = 0
  for await (const line of linesOf(loader.stdout)) {
    const [word = '', height = ''] = line.split(' ')
    if (word === 'from') said.end = Number(height)
    if (word in said) said[word as keyof typeof said] = Number(height)
    count += 1
    if (count === lines) {
      for (const until = performance.now() + spin; performance.now() < until; );
      loader.kill('SIGKILL')
    }
  }
  await loader.exited
  expect(loader.signalCode).toBe('SIGKILL')
  return said
}

/** The whole store, against what one clean load up to its height would have stored. */
const expectWhole = async (path: string, behind: number): Promise<number> => {
  const store = openSqlite({ path })
  const height = (await store.published())?.height ?? -1
  if (height >= 0)
    expect<unknown>(
      await store.read(async view => ({
        at: view.at,
        statistics: await view.get(statistics, STATISTICS),
        wealth: await view.page(wealth, 'richest', { offset: 0, limit: 10 }),
        list: await view.get(lists, listAt(0).id),
        blocks: await view.getMany(
          blocks,
          Array.from({ length: height + 2 }, (_, at) => blockId(at)),
        ),
        rows: await view.records(listAt(height), 1, height + 1),
      })),
    ).toEqual(wholeAt(height, behind))
  await store.close()
  return height
}

const wholeAt = (height: number, behind: number) => {
  const heights = Array.from({ length: height + 1 }, (_, at) => at)
  return {
    at: { ...publishedAt(height), lib: height + behind },
    statistics: statisticsDoc({ transaction_count: height }),
    wealth: [wealthDoc('a', totalAt(height)), wealthDoc('b', totalAt(height))],
    list: listAt(height),
    blocks: [...heights.map(each => blockDoc(each)), undefined],
    rows: heights.map(each => {
      const { places: _, ...row } = recordDoc(each, 0)
      return row
    }),
  }
}

describe('crash', () => {
  test.each([
    ['by the main thread', NEAR],
    ['by a thread of its own', FAR],
  ])(
    `commit ${'%s'}: after SIGKILL at ${KILLS} moments the store is as before or as after the batch, and loads on`,
    async (_, behind) => {
      const path = join(folder, `killed-${behind}.sqlite`)
      await openSqlite({ path }).create()
      let before = -1
      for (let kill = 0; kill < KILLS; kill += 1) {
        const said = await killedAfter(path, {
          lines: 1 + ((kill * 7) % 10),
          spin: (kill * 3.7) % 19,
          behind,
        })
        expect(said.from).toBe(before)
        const height = await expectWhole(path, behind)
        // What it was told to be committed is there; beyond it at most batches it did not live to tell of.
        expect(height).toBeGreaterThanOrEqual(said.end)
        before = height
      }
      const store = openSqlite({ path })
      const writer = await store.takeOver(identity)
      const height = writer.checkpoint?.height ?? -1
      await commitBatch(writer, tellingBatch(height + 1, height + 3))
      await store.close()
      expect(await expectWhole(path, NEAR)).toBe(height + 3)
    },
    600_000,
  )

  test('takeOver: refused while another process loads, naming it; free as soon as that was killed', async () => {
    const path = join(folder, 'locked.sqlite')
    const store = openSqlite({ path })
    await store.create()
    const loader = startLoader(path)
    for await (const line of linesOf(loader.stdout)) if (line.startsWith('end')) break
    const refused = await failureOf(store.takeOver(identity))
    expect([refused.kind, refused.message.replace(/since [^)]*/, 'since T')]).toEqual([
      'conflict',
      `Another loader is writing to sqlite:${path} (process ${loader.pid}, since T).`,
    ])
    loader.kill('SIGKILL')
    await loader.exited
    const writer = await store.takeOver(identity)
    expect(writer.checkpoint).toEqual(await store.published())
    await store.close()
  })
})
