import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { RepairResult } from '#audit/repair.ts'
import type { LoadedBlock } from '#chain/block.ts'
import type { Failure } from '#failure/failure.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import type { Writer } from '#store/port.ts'
import { fill, forkedChain } from '../support/nodes/forked.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { replayedNode } from '../support/nodes/replayed-node.ts'
import { SOAK } from '../support/processes/soak.ts'
import { repairedEnd } from '../support/stores/audited.ts'
import { type Damageable, damageableElastic, damageableSqlite } from '../support/stores/damage.ts'
import { type Dump, differences, dumpSqlite } from '../support/stores/dump.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { fillFromRecording, loadedFile } from '../support/stores/loaded.ts'
import { loadFrom, temporarySqlite } from '../support/stores/loading.ts'

/** The last blocks of the recorded chain up to here have transactions. Those of the other node have different ones. */
const HEIGHT = 759
/** The height of the load after the repair. */
const NEXT = 779

const replay = replayedNode(NEXT)
/** The dumps of undamaged stores. */
const clean = { sqlite: new Map(), elastic: new Map() } as Record<Damageable['kind'], Dump>
const withoutPlaces = (dump: Dump): Dump => new Map([...dump].filter(([id]) => !id.startsWith('places/')))

const FAR = HEIGHT + 100_000
type Way = RepairResult['aligned']['way']
type Case = {
  readonly name: string
  readonly orphans?: number
  /** The node's last irreversible block during the load. If it is far ahead, nothing is kept to undo batches. */
  readonly lib?: number
  readonly damage?: (place: Damageable) => Promise<void>
  /** On SQLite this is the case of the published record, because both are one record there. */
  readonly apart?: true
  /** One of the cases that every run tests on Elasticsearch, too. The others are left to SOAK there. */
  readonly isSample?: true
  /** Absent: the record of the end is settled. */
  readonly way?: Way | Readonly<Record<Damageable['kind'], Way>>
}

type Where = 'published' | 'checkpoint'
type End = Readonly<Record<string, string | number>>
const said = (where: Where, end: End) => (place: Damageable) => place.say(where, end)
const lost = (where: Where) => (place: Damageable) => place.lose(where)
/** The record of the end has values that a loader never writes. */
const broken = (where: Where) => said(where, { hash: 7, time: -1 })
const RIGHT = { sqlite: 'settled', elastic: 'right' } as const
const CLOSED = { sqlite: 'settled', elastic: 'closed' } as const

const CASES: readonly Case[] = [
  { name: 'published record lost', damage: lost('published'), isSample: true, way: RIGHT },
  { name: 'published record broken', damage: broken('published'), way: RIGHT },
  { name: 'checkpoint lost', apart: true, damage: lost('checkpoint') },
  { name: 'checkpoint broken', apart: true, damage: broken('checkpoint') },
  {
    name: 'checkpoint lost, and the published height',
    damage: async place => {
      await place.say('published', { height: HEIGHT - 30 })
      await place.lose('checkpoint')
    },
    way: CLOSED,
  },
  {
    name: 'all that is said of the end lost',
    damage: async place => {
      await place.lose('checkpoint')
      if (place.kind === 'elastic') await place.lose('published')
    },
    way: CLOSED,
  },
  {
    ...{ name: 'checkpoint lost, and an orphan', orphans: 1, damage: lost('checkpoint'), isSample: true },
    way: { sqlite: 'back', elastic: 'closed' },
  },
  { name: 'checkpoint lost, and nothing is kept', lib: FAR, damage: lost('checkpoint') },
  { name: 'nothing', way: 'right' },
  { name: 'published hash', damage: said('published', { hash: 'other' }) },
  { name: 'published time', damage: said('published', { time: '7' }) },
  { name: 'published height, too low', damage: said('published', { height: HEIGHT - 30 }) },
  { name: 'published height, too high', damage: said('published', { height: 10 ** 9 }) },
  { name: 'published lib, absurd', damage: said('published', { lib: 10 ** 15 }) },
  { name: 'checkpoint height, too low', apart: true, damage: said('checkpoint', { height: HEIGHT - 30 }) },
  { name: 'checkpoint height, too high', apart: true, damage: said('checkpoint', { height: 10 ** 9 }) },
  { name: 'checkpoint hash', apart: true, damage: said('checkpoint', { hash: 'other' }), isSample: true },
  { name: 'checkpoint time', apart: true, damage: said('checkpoint', { time: '7' }) },
  { name: 'one orphan', orphans: 1, way: 'back' },
  {
    ...{ name: 'an orphan, and the published height', orphans: 1, way: 'back' as const },
    damage: said('published', { height: HEIGHT - 5 }),
  },
  { name: 'more orphans than are kept', orphans: 40, way: 'closed' },
  { name: 'an orphan of which nothing is kept', orphans: 1, lib: FAR, way: 'closed' },
  {
    ...{ name: 'both heights, and nothing is kept', lib: FAR },
    damage: async place => {
      await place.say('published', { height: HEIGHT - 30 })
      await place.say('checkpoint', { height: HEIGHT - 20 })
    },
    // With Elasticsearch, the loader's own file knows the end, too.
    way: { sqlite: 'closed', elastic: 'settled' },
  },
]

/** Continues the load, and compares the whole store with one that was never damaged. */
async function requireGoesOn(place: Damageable, what: string): Promise<void> {
  expect([what, await loadFrom(replay.url, place.store, { prove: 'linked' })]).toEqual([what, NEXT])
  const [at, tip] = [await place.store.published(), (await recordedBlocks())[NEXT]?.block]
  expect([what, at?.hash, at?.time, at?.lib]).toEqual([what, tip?.hash, tip?.time, NEXT])
  expect([what, differences(withoutPlaces(await place.dump()), clean[place.kind])]).toEqual([what, []])
}

/** A store as a loader left it, on a chain whose last `orphans` blocks are from another node. */
type Filled = (orphans: number, lib: number) => Promise<Damageable>

function suite(kind: Damageable['kind'], filled: Filled): void {
  const isWhole = kind === 'sqlite' || SOAK
  const cases = CASES.filter(({ apart, isSample }) => (kind === 'sqlite' ? !apart : SOAK || isSample))
  for (const [orphans, way] of [[3, 'back'], ...(isWhole ? [[40, 'closed'] as const] : [])] as const)
    test(`repair: ${orphans} orphans, killed at each of its writes: no reader sees a half-done repair, and the last repair completes`, async () => {
      await using place = await filled(orphans, HEIGHT + 5)
      const counts = await transactionsUntil(await forkedChain(HEIGHT, orphans))
      let kills = 0
      for (; ; kills++) {
        const ended = await repairedEnd(place.store, replay.node, dyingAfter(kills)).catch((error: unknown) =>
          String(error),
        )
        if (typeof ended !== 'string') break
        expect([kills, ended]).toEqual([kills, 'Error: killed'])
        await requireWholeOrRefused(place, counts)
      }
      expect(kills).toBeGreaterThanOrEqual(2)
      await requireGoesOn(place, way)
    })

  for (const { name, orphans = 0, lib = HEIGHT + 5, damage, way = 'settled' } of cases)
    test(`repair: ${name}: the store loads on and equals an undamaged one`, async () => {
      await using place = await filled(orphans, lib)
      await damage?.(place)
      const { aligned } = await repairedEnd(place.store, replay.node)
      expect([name, aligned.way]).toEqual([name, typeof way === 'string' ? way : way[place.kind]])
      await requireGoesOn(place, name)
    })
}

/** The number of transactions up to each block of the recorded chain and of a forked one, by the block's hash. */
async function transactionsUntil(forked: readonly LoadedBlock[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const chain of [await recordedBlocks(), forked]) {
    let count = 0
    for (const { block } of chain) {
      // The base transaction of a block is not counted, except in genesis.
      count += block.transactions.length - (block.height === 0 ? 0 : 1)
      counts.set(block.hash, count)
    }
  }
  return counts
}

/** Another process either reads the state of the published block, or is told to wait for the repair. */
async function requireWholeOrRefused(place: Damageable, counts: ReadonlyMap<string, number>): Promise<void> {
  const reader = place.reopen()
  try {
    const seen = await reader
      .read(async view => ({
        height: view.at.height,
        last: (await view.get(blocks, blockId(view.at.height)))?.hash,
        transactions: (await view.get(statistics, STATISTICS))?.transaction_count,
      }))
      .catch((error: Failure) => error.message)
    if (typeof seen === 'string') expect(seen).toContain('is being repaired')
    else {
      expect(seen.last).toBe((await reader.published())?.hash)
      expect(seen.transactions).toBe(counts.get(seen.last ?? '') ?? -1)
    }
  } finally {
    await reader.close()
  }
}

/** A writer whose process dies right after this many writes. */
function dyingAfter(writes: number) {
  let left = writes
  return (writer: Writer): Writer => {
    const mortal =
      <A extends readonly unknown[], R>(work: (...given: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        const done = left > 0 ? await work(...given) : undefined
        left -= 1
        if (left <= 0) throw new Error('killed')
        return done as R
      }
    return {
      ...writer,
      get checkpoint() {
        return writer.checkpoint
      },
      get unfinished() {
        return writer.unfinished
      },
      rewrite: mortal(writer.rewrite),
      takeBack: mortal(writer.takeBack),
      settle: mortal(writer.settle),
    }
  }
}

describe('the end of SQLite', () => {
  const kept = new Map<string, Awaited<ReturnType<typeof temporarySqlite>>>()
  beforeAll(async () => {
    clean.sqlite = withoutPlaces(dumpSqlite(await loadedFile(NEXT)))
  })
  afterAll(async () => {
    for (const { destroy } of kept.values()) await destroy()
  })
  // Each store is filled once, and copied for every test.
  suite('sqlite', async (orphans, lib) => {
    const key = `${orphans} ${lib}`
    const known = kept.get(key) ?? (await temporarySqlite())
    if (!kept.has(key)) await fill(known.store, await forkedChain(HEIGHT, orphans), lib)
    kept.set(key, known)
    return damageableSqlite(known.path)
  })
})

if (elasticsearchUrl() !== undefined)
  describe('the end of Elasticsearch', () => {
    beforeAll(async () => {
      const place = await damageableElastic()
      await fillFromRecording(place.store, { to: NEXT })
      clean.elastic = await place.dump()
      await place.destroy()
    })
    suite('elastic', async (orphans, lib) => {
      const place = await damageableElastic()
      await place.store.create()
      await fill(place.store, await forkedChain(HEIGHT, orphans), lib)
      return place
    })
  })
