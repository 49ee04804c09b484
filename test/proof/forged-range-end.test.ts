import { describe, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { createNode } from '#node/archive-node.ts'
import type { Store } from '#store/port.ts'
import type { Recording } from '#test/replay/recording.ts'
import { type Replay, serveReplay } from '#test/replay/serve.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { forgedChain } from '../support/nodes/forged-chain.ts'
import { loadUnpaused } from '../support/nodes/load-unpaused.ts'
import { isBulk } from '../support/nodes/read-blocks.ts'
import { recording } from '../support/nodes/recording.ts'
import { SOAK } from '../support/processes/soak.ts'
import { repairedEnd } from '../support/stores/audited.ts'
import { type Damageable, damageableElastic, damageableSqlite } from '../support/stores/damage.ts'
import { differences, dumpSqlite } from '../support/stores/dump.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { loadedFile } from '../support/stores/loaded.ts'
import { loadOnce, replayed, temporarySqlite } from '../support/stores/loading.ts'

const END = 60
/** Each height is forged by itself. With SOAK, several ranges of a load end at these heights, however it divides them. */
const HEIGHTS = SOAK ? Array.from({ length: 34 }, (_, at) => at + 2) : [2, 16, 17]

/**
 * The recorded chain with one block made up: its own hashes are right, and the next block does not name it as parent.
 */
async function withForged(height: number, isForged: () => boolean = () => true): Promise<Recording> {
  const all = await recording()
  const alter = (block: object) => Object.assign(block, { version: '7' })
  const text = forgedChain(all, { height, alter, rehashed: true }, height).blockText(height)
  return { ...all, blockText: at => (at === height && isForged() ? text : all.blockText(at)) }
}

const linkedNode = (url: string) => createNode({ urls: [url], clock: idleClock(), prove: 'linked' })

const loadLinked = (url: string, store: Store, to?: number) =>
  loadUnpaused(url, store, { prove: 'linked', ...(to === undefined ? {} : { to }) })

const clean = async () => dumpSqlite(await loadedFile(END))

/** Runs a load with a node that makes up a block. In the end the store must have the documents of the recorded chain. */
async function requireClean(height: number, work: (store: Store, liar: Replay) => Promise<unknown>): Promise<void> {
  const { store, path, destroy } = await temporarySqlite()
  await using liar = serveReplay({ recording: await withForged(height), to: END })
  expect([height, await work(store, liar)]).toEqual([height, END])
  expect([height, differences(dumpSqlite(path), await clean())]).toEqual([height, []])
  await destroy()
}

test.each([
  ['as far as the node has blocks', false],
  ['up to that block', true],
])(
  'linked: a block that the next one does not name as parent is not stored, at any height: load %s',
  async (_, isEnd) => {
    for (const height of HEIGHTS)
      await requireClean(height, async (store, liar) => {
        const failed = await loadLinked(liar.url, store, isEnd ? height : undefined)
        expect([height, failed]).toMatchObject([height, { kind: 'bad_block' }])
        expect((await store.published())?.height ?? -1).toBeLessThan(height)
        await using honest = await replayed(END)
        return await loadLinked(honest.url, store)
      })
  },
)

test('linked: a block that is made up only in bulk answers is requested again, at any height', async () => {
  for (const height of HEIGHTS)
    await requireClean(height, async (store, liar) => {
      const bulk: Fault = ({ method, path, body }) =>
        isBulk(path) ? fetch(`${liar.url}${path}`, { method, body }) : undefined
      await using node = await startFaultyNode(bulk, END)
      return await loadLinked(node.url, store)
    })
})

/** Height of the node's last block, which is made up as long as it is the last. */
const TAIL = 40

function suite(open: () => Promise<Damageable>): void {
  const filled = async (body: (place: Damageable) => Promise<void>): Promise<void> => {
    const place = await open()
    try {
      await using honest = await replayed(TAIL - 8)
      expect(await loadLinked(honest.url, place.store)).toBe(TAIL - 8)
      await body(place)
    } finally {
      await place.destroy()
    }
  }

  test('a made-up last block of the node: the load that finds it names repair, which takes it back', () =>
    filled(async place => {
      let isForged = true
      await using replay = serveReplay({ recording: await withForged(TAIL, () => isForged), to: TAIL })
      const node = linkedNode(replay.url)
      // After it is stored, the chain grows, and the next block names another parent.
      const found = await loadOnce(node, place.store, {
        once: false,
        onProgress: ({ height }) => {
          if (height < TAIL) return
          isForged = false
          replay.setHeight(END)
        },
      }).catch((error: unknown) => error)
      expect(found).toBeInstanceOf(Failure)
      const { message, help } = found as Failure
      expect(message).toMatch(new RegExp(`^Block ${TAIL} is \\w+ in the store and \\w+ at the node`))
      expect(help).toContain(`iostlens repair --node ${replay.url}`)
      const { aligned } = await repairedEnd(place.store, node)
      expect([aligned.way, aligned.end.height < TAIL, aligned.from]).toEqual(['back', true, TAIL])
      node.close()
      expect(await loadLinked(replay.url, place.store)).toBe(END)
      expect((await place.store.published())?.hash).toBe(await hashAt(replay.url, END))
    }))

  test('a node whose chain continues from another block than it shows: the load names a remedy, and a repair with it writes nothing', () =>
    filled(async place => {
      await using lying = serveReplay({ recording: await withForged(TAIL), to: TAIL })
      expect(await loadLinked(lying.url, place.store)).toBe(TAIL)
      lying.setHeight(END)
      const failed = await loadLinked(lying.url, place.store)
      expect(failed).toBeInstanceOf(Failure)
      expect((failed as Failure).help).toContain('iostlens repair')
      const node = linkedNode(lying.url)
      await expect(repairedEnd(place.store, node)).rejects.toMatchObject({
        kind: 'bad_block',
        help: expect.stringContaining('Use another node'),
      })
      node.close()
      expect((await place.store.published())?.height).toBe(TAIL)
    }))
}

async function hashAt(url: string, height: number): Promise<string | undefined> {
  const node = linkedNode(url)
  const hash = await node.blockHash(height)
  node.close()
  return hash
}

describe('the end of SQLite', () => suite(damageableSqlite))
if (elasticsearchUrl() !== undefined) describe('the end of Elasticsearch', () => suite(damageableElastic))
