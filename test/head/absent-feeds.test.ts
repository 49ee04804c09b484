import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Published } from '#store/port.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { until } from '../support/wait.ts'
import { busyLists, feedsSettled } from './checks.ts'
import { ancestor, type ForkBlock, growSome, leadsTo } from './fork-node.ts'
import { type HeadReader, headReader } from './head-reader.ts'
import { type ForkStand, STORES, withStand } from './stand.ts'
import type { AnsweredRow } from './truth.ts'

setDefaultTimeout(SOAK ? 3_600_000 : 600_000)

/** Clients of feeds that all disconnect and reconnect together. */
type AbsentReaders = Awaited<ReturnType<typeof absentReaders>>

async function absentReaders(stand: ForkStand, random: () => number) {
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  let waiting = 0
  const wrong: string[] = []
  const ready = async (): Promise<void> => {
    waiting += 1
    await gate.promise
    waiting -= 1
  }
  let at: Pick<Published, 'height' | 'hash'> = await stand.published()
  /** Whether the current knowledge of the service does not rule a block out. */
  const mayBe = (block: ForkBlock): boolean => {
    const { height } = block.made
    if (height <= at.height) return leadsTo(stand.final().head, { height, hash: block.hash })
    const shown = stand.follower.current()
    const tip = shown.status === 'followed' ? stand.forks.blocks.get(shown.tip.hash) : undefined
    if (tip !== undefined) return leadsTo(tip, { height, hash: block.hash })
    return ancestor(block, at.height).hash === at.hash
  }
  const onDropped = ([lowest]: readonly AnsweredRow[]): void => {
    const hash = String(lowest?.['id']).split('-').at(-1) ?? ''
    const block = stand.forks.blocks.get(hash)
    if (block === undefined || mayBe(block)) wrong.push(`${JSON.stringify(lowest)} at ${at.height}`)
  }
  const readers: readonly HeadReader[] = busyLists(stand).map(list =>
    headReader(list, {
      ask: (path, init) => stand.service.ask(path, init),
      key: () => stand.service.key,
      random,
      ready,
      onDropped,
      isAway: () => true,
    }),
  )
  await Promise.all(readers.map(({ open }) => open))
  return {
    readers,
    /** Rows that were dropped during a connection although they are still on the branch. */
    wrong,
    /** Resolves when no client is connected. */
    leave: async () => {
      gate = Promise.withResolvers()
      for (const reader of readers) reader.drop()
      await Promise.race([until(() => waiting >= readers.length, 1), ...readers.map(({ done }) => done)])
    },
    comeAgain: () => gate.resolve(),
    /** Loads up to the last irreversible block, with or without connected clients. */
    load: async () => {
      const { head, lib } = stand.final()
      at = { height: lib, hash: ancestor(head, lib).hash }
      await stand.load()
    },
    stop: async () => {
      gate.resolve()
      for (const reader of readers) reader.stop()
      await Promise.all(readers.map(({ done }) => done))
    },
  }
}

/**
 * Clients that only follow the documented rules of feeds, over branches that change and services that restart
 * while the clients are away. Each client confirms its oldest packed row with the next irreversible one, and
 * sees from the ids that both are the same row (`head-reader.ts`). No client treats a row as final that is
 * not, none loses a row, and after the begin of a connection no row is dropped that is still on the branch.
 */

type Course = { readonly stand: ForkStand; readonly readers: AbsentReaders; readonly random: () => number }

const ROUNDS = SOAK ? 8 : 5
/** The maximum number of blocks above the irreversible one after it rises. */
const MOST_ABOVE = 10

const below = (random: () => number, most: number): number => Math.floor(random() * most)

/** The chain grows, possibly on another branch from above the irreversible block. */
const goOn = ({ stand, random }: Course): void =>
  stand.show(growSome(stand.forks, stand.node.stand, random), stand.node.stand.lib)

/** The last irreversible block rises, rarely up to the head. */
function conclude({ stand, random }: Course): void {
  const { head, lib } = stand.node.stand
  const room = head.made.height - lib
  const risen = random() < 0.2 ? room : below(random, room)
  stand.show(head, lib + Math.max(risen, room - MOST_ABOVE))
}

async function look({ stand }: Course): Promise<void> {
  await stand.probe()
  await stand.follower.poll(new AbortController().signal)
}

/** Events that happen while no client or some clients are connected. */
const EVENTS: readonly ((course: Course) => void | Promise<void>)[] = [
  goOn,
  goOn,
  conclude,
  ({ readers }) => readers.load(),
  ({ stand }) => stand.restart(),
  look,
]

async function simulate(stand: ForkStand, seed: number, seen: Record<string, number>): Promise<void> {
  const random = seeded(seed)
  const readers = await absentReaders(stand, seeded(seed + 1))
  const course: Course = { stand, readers, random }
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      goOn(course)
      await look(course)
      await feedsSettled(stand, readers.readers)
      await readers.leave()
      for (let left = 1 + below(random, 6); left > 0; left -= 1) await EVENTS[below(random, EVENTS.length)]?.(course)
      const isUnknown = random() < 0.7
      // The service has just started, and has not read the head yet.
      if (isUnknown) stand.restart()
      readers.comeAgain()
      await feedsSettled(stand, readers.readers)
      if (isUnknown && random() < 0.5) {
        conclude(course)
        await readers.load()
        await feedsSettled(stand, readers.readers)
      }
      expect([`seed ${seed}, round ${round}`, readers.wrong]).toEqual([`seed ${seed}, round ${round}`, []])
    }
  } finally {
    await readers.stop()
  }
  for (const { seen: own } of readers.readers)
    for (const [event, count] of Object.entries(own)) seen[event] = (seen[event] ?? 0) + count
}

/** The number of seeds. Elasticsearch needs much longer for each, and what it reads is the matter of the suite of stores. */
const SEEDS = SOAK ? { SQLite: 1_000, Elasticsearch: 50 } : { SQLite: 1, Elasticsearch: 0 }

test.each(STORES.filter(([name]) => SEEDS[name] > 0))(
  'feeds: a client that was away treats no row as final that is not, and loses none, on %s',
  async (name, open) => {
    const first = seedOf(40)
    const seen: Record<string, number> = {}
    for (let seed = first; seed < first + SEEDS[name]; seed += 1)
      await withStand(open, seed, stand => simulate(stand, seed, seen))
    for (const event of ['message', 'packed', 'dropped']) expect(seen[event]).toBeGreaterThan(10)
  },
)
