import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { audit } from '#audit/audit.ts'
import { type Repaired, repair } from '#audit/repair.ts'
import type { LoadedBlock } from '#chain/block.ts'
import { DERIVATION } from '#indices/registry.ts'
import { batchBuilder } from '#load/batch-builder.ts'
import { deriver } from '#load/deriver.ts'
import { createNode } from '#node/create-node.ts'
import type { Node } from '#node/port.ts'
import type { Replay } from '#replay/serve.ts'
import type { Store, Writer } from '#store/port.ts'
import { type Damageable, damageableElastic, damageableSqlite } from './damage.ts'
import { type Dump, differences, dumpSqlite } from './dump.ts'
import { elasticsearchUrl } from './elasticsearch.ts'
import { loadFrom, replayed, temporarySqlite } from './loading.ts'
import { recordedBlocks } from './recording.ts'

setDefaultTimeout(600_000)

/** Enough of the recorded chain for transfers at its end. */
const HEIGHT = 700
/** How far it is loaded after the repair. */
const NEXT = 720
/** Blocks at the end that are loaded one by one. */
const ALONE = 12

let replay: Replay
let node: Node
let clean: Dump
beforeAll(async () => {
  replay = await replayed(NEXT)
  node = createNode({ urls: [replay.url] })
  const { store, path, destroy } = await temporarySqlite()
  await loadFrom(replay.url, store)
  clean = dumpSqlite(path)
  await destroy()
})
afterAll(async () => {
  node.close()
  await replay.stop()
})

/** The recorded chain up to `HEIGHT`, of which the last blocks are another node's: other hashes, other transactions. */
const chainWith = async (orphans: number): Promise<readonly LoadedBlock[]> => {
  const all = await recordedBlocks()
  const blocks = all.slice(0, HEIGHT + 1)
  for (let height = HEIGHT - orphans + 1; height <= HEIGHT; height++) {
    const [own, parent, other] = [blocks[height], blocks[height - 1], all[height + 7]]
    if (own === undefined || parent === undefined || other === undefined)
      throw new Error('The recording is short.')
    const [base] = own.block.transactions
    const transactions = [...(base === undefined ? [] : [base]), ...other.block.transactions.slice(1)]
    // The hash of some other block: of the right form.
    const hash = all[height + 2_000]?.block.hash ?? ''
    blocks[height] = {
      ...own,
      block: {
        ...own.block,
        hash,
        parentHash: parent.block.hash,
        transactions,
        txCount: transactions.length,
      },
    }
  }
  return blocks
}

/** Loads blocks as a loader near the head does: the last ones each in a batch of its own. */
const fill = async (store: Store, blocks: readonly LoadedBlock[], lib: number): Promise<void> => {
  await store.create()
  const genesis = blocks[0]?.block
  if (genesis === undefined) throw new Error('The recording has no block.')
  const chainId = genesis.transactions[0]?.chainId ?? 0
  const writer = await store.takeOver({ chainId, genesis: genesis.hash, derivation: DERIVATION })
  const { filling } = writer
  const derive = deriver(writer, () => filling.partition)
  const until = blocks.length - ALONE
  const runs = [blocks.slice(0, until), ...blocks.slice(until).map(block => [block])]
  for (const run of runs) {
    const batch = batchBuilder({ documents: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER })
    let documents = writer.filling.documents
    await derive.derive(run, async each => {
      batch.add(each)
      documents += 1 + each.transactions.length + each.records.length
    })
    await writer.commit(batch.build(derive.cut(), { partition: 0, documents }, lib))
    derive.settled()
  }
  await writer.release()
}

/** As the command; `held` may stand between it and the store. */
const repaired = async (
  store: Store,
  held: (writer: Writer) => Writer = writer => writer,
): Promise<Repaired> => {
  const identity = await store.identity()
  if (identity === undefined) throw new Error('Nothing is loaded.')
  const signal = new AbortController().signal
  const scratch = await temporarySqlite()
  const writer = await store.takeOver(identity, { mending: true })
  try {
    return await repair({ store, writer: held(writer), node }, signal, by =>
      audit(
        { store, scratch: scratch.store, node, writer: by },
        { sample: 0, signal, onFinding: () => undefined, onLooked: () => undefined },
      ),
    )
  } finally {
    await writer.release()
    await scratch.destroy()
  }
}

type Case = {
  readonly name: string
  readonly orphans?: number
  /** What the node was when it was loaded; far ahead: nothing is kept to take batches back. */
  readonly lib?: number
  readonly damage?: (place: Damageable) => Promise<void>
  readonly way: Repaired['aligned']['way']
}

const FAR = HEIGHT + 100_000
const said = (end: Readonly<Record<string, string | number>>) => async (place: Damageable) => {
  await place.say('published', end)
}
const noted = (end: Readonly<Record<string, string | number>>) => async (place: Damageable) => {
  await place.say('checkpoint', end)
}

const CASES: readonly Case[] = [
  { name: 'nothing', way: 'right' },
  { name: 'published hash', damage: said({ hash: 'other' }), way: 'settled' },
  { name: 'published time', damage: said({ time: '7' }), way: 'settled' },
  { name: 'published height, too low', damage: said({ height: HEIGHT - 30 }), way: 'settled' },
  { name: 'published height, too high', damage: said({ height: 10 ** 9 }), way: 'settled' },
  { name: 'published lib, absurd', damage: said({ lib: 10 ** 15 }), way: 'settled' },
  { name: 'checkpoint height, too low', damage: noted({ height: HEIGHT - 30 }), way: 'settled' },
  { name: 'checkpoint height, too high', damage: noted({ height: 10 ** 9 }), way: 'settled' },
  { name: 'checkpoint hash', damage: noted({ hash: 'other' }), way: 'settled' },
  { name: 'checkpoint time', damage: noted({ time: '7' }), way: 'settled' },
  { name: 'one orphan', orphans: 1, way: 'back' },
  { name: 'three orphans', orphans: 3, way: 'back' },
  {
    name: 'an orphan, and the published height',
    orphans: 1,
    damage: said({ height: HEIGHT - 5 }),
    way: 'back',
  },
  { name: 'more orphans than are kept', orphans: 40, way: 'closed' },
  { name: 'an orphan of which nothing is kept', orphans: 1, lib: FAR, way: 'closed' },
  {
    name: 'both heights, and nothing is kept',
    lib: FAR,
    damage: async place => {
      await place.say('published', { height: HEIGHT - 30 })
      await place.say('checkpoint', { height: HEIGHT - 20 })
    },
    way: 'closed',
  },
]

/** Loads on, and compares all of it with a store that was never damaged. */
const requireGoesOn = async (place: Damageable, what: string): Promise<void> => {
  expect([what, await loadFrom(replay.url, place.store)]).toEqual([what, NEXT])
  const [at, tip] = [await place.store.published(), (await recordedBlocks())[NEXT]?.block]
  expect([what, at?.hash, at?.time, at?.lib]).toEqual([what, tip?.hash, tip?.time, NEXT])
  const dump = await place.dump()
  expect([
    what,
    differences(new Map([...dump].filter(([id]) => !id.startsWith('places/'))), cleanOf(place)),
  ]).toEqual([what, []])
}

const suite = (open: () => Promise<Damageable>): void => {
  for (const { name, orphans = 0, lib = HEIGHT + 5, damage, way } of CASES)
    test(`repair: ${name}: the store loads on and is as if nothing had been`, async () => {
      const place = await open()
      try {
        await fill(place.store, await chainWith(orphans), lib)
        await damage?.(place)
        const { aligned } = await repaired(place.store)
        expect([name, aligned.way]).toEqual([name, way])
        await requireGoesOn(place, name)
      } finally {
        await place.destroy()
      }
    })
}

/** What is read of a store of either kind. */
const cleanOf = ({ kind }: Damageable): Dump =>
  kind === 'sqlite' ? new Map([...clean].filter(([id]) => !id.startsWith('places/'))) : cleanElastic

let cleanElastic: Dump

describe('the end of SQLite', () => suite(damageableSqlite))
if (elasticsearchUrl() !== undefined)
  describe('the end of Elasticsearch', () => {
    beforeAll(async () => {
      const place = await damageableElastic()
      await loadFrom(replay.url, place.store)
      cleanElastic = await place.dump()
      await place.destroy()
    })
    suite(damageableElastic)
  })
