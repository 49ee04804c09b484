import { expect, setDefaultTimeout, test } from 'bun:test'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { type AbsentReaders, absentReaders } from './absent-readers.ts'
import { feedsSettled } from './check-feeds.ts'
import type { ForkBlock } from './fork-node.ts'
import { aboveOf } from './lines.ts'
import type { ForkStand } from './stand.ts'
import { STORES, withStand } from './stores.ts'

setDefaultTimeout(SOAK ? 3_600_000 : 600_000)

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
function goOn({ stand: { forks, node, other }, random }: Course): void {
  const { head, lib } = node.stand
  const above = aboveOf(head, lib)
  let tip: ForkBlock = random() < 0.5 ? (above[below(random, above.length)]?.parent ?? head) : head
  const until = head.made.height + 1 + below(random, 5)
  while (tip.made.height < until) tip = forks.grow(tip, { waits: random() < 0.3, seed: below(random, 2 ** 31) })
  node.stand = { head: tip, lib }
  other.stand = node.stand
}

/** The last irreversible block rises, rarely up to the head. */
function conclude({ stand: { node, other }, random }: Course): void {
  const { head, lib } = node.stand
  const room = head.made.height - lib
  const risen = random() < 0.2 ? room : below(random, room)
  node.stand = { head, lib: lib + Math.max(risen, room - MOST_ABOVE) }
  other.stand = node.stand
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

async function happen(course: Course, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await EVENTS[below(course.random, EVENTS.length)]?.(course)
}

async function simulate(stand: ForkStand, seed: number): Promise<HeadEvents> {
  const random = seeded(seed)
  const readers = await absentReaders(stand, seeded(seed + 1))
  const course: Course = { stand, readers, random }
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      goOn(course)
      await look(course)
      await feedsSettled(stand, readers.readers)
      await happen(course, 1 + below(random, 6))
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
  return Object.fromEntries(
    ['message', 'packed', 'dropped'].map(name => [
      name,
      readers.readers.reduce((sum, { seen }) => sum + (seen[name] ?? 0), 0),
    ]),
  )
}

type HeadEvents = Readonly<Record<string, number>>

/** The number of seeds. Elasticsearch needs much longer for each, and what it reads is the matter of the suite of stores. */
const SEEDS: Readonly<Record<(typeof STORES)[number][0], number>> = SOAK
  ? { SQLite: 1_000, Elasticsearch: 50 }
  : { SQLite: 1, Elasticsearch: 0 }

test.each(STORES.filter(([name]) => SEEDS[name] > 0))(
  'feeds: a client that was away treats no row as final that is not, and loses none, on %s',
  async (name, open) => {
    const first = seedOf(40)
    const seen: Record<string, number> = {}
    for (let seed = first; seed < first + SEEDS[name]; seed += 1) {
      const events = await withStand(open, seed, stand => simulate(stand, seed))
      for (const [event, count] of Object.entries(events)) seen[event] = (seen[event] ?? 0) + count
    }
    for (const event of ['message', 'packed', 'dropped']) expect(seen[event]).toBeGreaterThan(10)
  },
)
