import { expect, setDefaultTimeout, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import { createFollower } from '#head/follow.ts'
import type { Node } from '#node/port.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { feedsSettled, followLists } from './head-reader.ts'
import { differences } from './lists.ts'
import { expectedHead, queryDifferences, switchedDifferences } from './queries.ts'
import { type ForkStand, STORES, withStand } from './stand.ts'
import { type Course, EVENT_NAMES, happen } from './steps.ts'

setDefaultTimeout(SOAK ? 3_600_000 : 600_000)

/** In a short run, Elasticsearch has fewer steps: what it reads like SQLite is the matter of the suite of stores. */
const STEPS = { SQLite: SOAK ? 20_000 : 48, Elasticsearch: SOAK ? 20_000 : 6 } as const
/** The share of steps after which a node switches to another branch during a query. */
const SWITCHED = 0.2

/** Polls the head, and remembers when a node confirmed it. */
function looking(stand: ForkStand) {
  let confirmed = Number.NEGATIVE_INFINITY
  const look = async (): Promise<void> => {
    const before = stand.follower.current()
    await stand.poll()
    const shown = stand.follower.current()
    if (shown.status !== 'followed') return
    if (shown !== before || shown.tip.hash === stand.asked().stand.head.hash) confirmed = stand.clock.elapsed()
  }
  return {
    look,
    /** Polls while the node answers everything. The shown head is the expected one. */
    lookCalmly: async (at: string): Promise<void> => {
      const expected = await expectedHead(stand, stand.follower.current(), stand.clock.elapsed() - confirmed)
      await look()
      const shown = stand.follower.current()
      expect([at, shown.status === 'followed' ? shown.tip.hash : shown.status]).toEqual([at, expected])
    },
  }
}

async function simulate(stand: ForkStand, seed: number, steps: number): Promise<Readonly<Record<string, number>>> {
  const random = seeded(seed)
  const course: Course = { stand, random, others: [], happened: [] }
  const readers = await followLists(stand, seeded(seed + 1))
  const { look, lookCalmly } = looking(stand)
  const seen: Record<string, number> = {}
  for (let step = 1; step <= steps; step += 1) {
    const { name, calm } = await happen(course)
    const at = `seed ${seed}, step ${step}, ${name}`
    seen[name] = (seen[name] ?? 0) + 1
    if (name === 'another service') for (const reader of readers) reader.drop()
    if (!calm) {
      await look()
      await feedsSettled(stand, readers)
      expect([at, await differences(stand, random)]).toEqual([at, []])
      stand.node.meddle = undefined
      await stand.probe()
    }
    await lookCalmly(at)
    await feedsSettled(stand, readers)
    expect([at, await differences(stand, random)]).toEqual([at, []])
    // Health data of ten seconds ago is outdated, and feeds may have taken that long by this clock.
    if (!stand.node.isAway) await stand.probe()
    expect([at, await queryDifferences(stand, random)]).toEqual([at, []])
    if (random() < SWITCHED) expect([at, await switchedDifferences(course)]).toEqual([at, []])
  }
  for (const reader of readers) {
    await reader.stop()
    for (const [event, count] of Object.entries(reader.seen)) seen[event] = (seen[event] ?? 0) + count
  }
  return seen
}

test.each(STORES)(
  'forks: after every step lists, feeds and queries answer from one branch, whatever the nodes do, on %s',
  async (name, open) => {
    const seed = seedOf(11)
    const seen = await withStand(open, seed, stand => simulate(stand, seed, STEPS[name]))
    if (STEPS[name] < STEPS.SQLite) return
    // All kinds of events occurred, and feeds sent all kinds of messages.
    expect(Object.keys(seen)).toEqual(expect.arrayContaining([...EVENT_NAMES, 'message', 'packed', 'dropped']))
  },
)

/** More heads than a follower keeps besides its branch. */
const HEADS = 260

test('head: the number of kept blocks whose parent could not be fetched is limited', () =>
  withStand(STORES[0][1], 1, async stand => {
    const { forks, client, clock, store } = stand
    const refused = forks.grow(forks.base, { waits: true, seed: 0 })
    const asked: string[] = []
    const get: Node['get'] = (path, how) => {
      asked.push(path)
      if (path.includes(refused.hash)) throw new Failure('bad_block', 'This block is refused.')
      return client.get(path, how)
    }
    const { poll } = createFollower({ node: { get }, store, prove: 'linked', clock, log: () => undefined })
    const heads = Array.from({ length: HEADS }, (_, at) => forks.grow(refused, { waits: true, seed: at + 1 }))
    for (const head of [...heads, ...heads.slice(0, 1)]) {
      stand.show(head, forks.base.made.height)
      await poll(new AbortController().signal)
    }
    const timesOf = (hash = '-') => asked.filter(path => path.includes(hash)).length
    expect([refused, heads[0], heads[1]].map(block => timesOf(block?.hash))).toEqual([HEADS + 1, 2, 1])
  }))
