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
import { SOAK } from '#test/support/processes/soak.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { testFolder } from '#test/support/test-folder.ts'

/**
 * Small batches, and batches longer than a slice, so that the loader dies between transactions, between
 * slices and within them.
 */
const SIZES = '1,40,900,7'
const KILLS = SOAK ? 20 : 7
/** Distance to the node's last block: this thread writes a near batch, and another thread a far one. */
const NEAR = 5
const FAR = 5_000

const folder = testFolder()

const startLoader = (path: string, behind = NEAR) =>
  Bun.spawn([process.execPath, join(import.meta.dir, 'crash-loader.ts'), path, SIZES, String(behind)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })

/** The lines of a loader as they are printed. */
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

/**
 * Kills a loader after `lines` lines and some more turns of the event loop. Returns the heights it printed as
 * committed and begun.
 */
async function killedAfter(
  path: string,
  { lines, spin, behind }: { readonly lines: number; readonly spin: number; readonly behind: number },
) {
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

/** Compares the whole store with a single undisturbed load up to its height. */
async function expectWhole(path: string, behind: number): Promise<number> {
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

function wholeAt(height: number, behind: number) {
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
    `commit ${'%s'}: after SIGKILL at ${KILLS} moments the store is as before or after the batch, and the load continues`,
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
        // Every batch printed as committed is stored. At most the batches that it could not print any more
        // are stored beyond.
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

  test('takeOver: the store is refused while another process loads, with its name, and is free as soon as that is killed', async () => {
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
