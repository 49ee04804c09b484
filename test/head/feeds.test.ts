import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Published } from '#store/port.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { until } from '../support/wait.ts'
import {
  aboveOf,
  ancestor,
  createForks,
  type ForkBlock,
  type ForkNode,
  growSome,
  leadsTo,
  serveForks,
} from './fork-node.ts'
import { feedsSettled, followLists, type HeadReader, headReader } from './head-reader.ts'
import { type AnsweredRow, branchTruth, busyLists } from './lists.ts'
import { type ForkStand, STORES, withStand } from './stand.ts'

setDefaultTimeout(SOAK ? 3_600_000 : 600_000)

/** Clients of feeds that all disconnect and reconnect together. */
async function absentReaders(stand: ForkStand, random: () => number) {
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  let waiting = 0
  /** Rows that were dropped during a connection although they are still on the branch. */
  const wrong: string[] = []
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
  const readers = await followLists(stand, random, {
    isAway: () => true,
    ready: async () => {
      waiting += 1
      await gate.promise
      waiting -= 1
    },
    onDropped: ([lowest]: readonly AnsweredRow[]): void => {
      const block = stand.forks.blocks.get(String(lowest?.['id']).split('-').at(-1) ?? '')
      if (block === undefined || mayBe(block)) wrong.push(`${JSON.stringify(lowest)} at ${at.height}`)
    },
  })
  return {
    ...{ readers, wrong },
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
      await Promise.all(readers.map(reader => reader.stop()))
    },
  }
}

type Absence = {
  readonly stand: ForkStand
  readonly readers: Awaited<ReturnType<typeof absentReaders>>
  readonly random: () => number
}

/** The maximum number of blocks above the irreversible one after it rises. */
const MAX_ABOVE = 10

const below = (random: () => number, most: number): number => Math.floor(random() * most)

/** The chain grows, possibly on another branch from above the irreversible block. */
const goOn = ({ stand, random }: Absence): void =>
  stand.show(growSome(stand.forks, stand.node.stand, random), stand.node.stand.lib)

/** The last irreversible block rises, rarely up to the head. */
function conclude({ stand, random }: Absence): void {
  const { head, lib } = stand.node.stand
  const room = head.made.height - lib
  const risen = random() < 0.2 ? room : below(random, room)
  stand.show(head, lib + Math.max(risen, room - MAX_ABOVE))
}

async function look({ stand }: Absence): Promise<void> {
  await stand.probe()
  await stand.poll()
}

/** Events that happen while no client or some clients are connected. */
const EVENTS: readonly ((absence: Absence) => void | Promise<void>)[] = [
  ...[goOn, goOn, conclude, look],
  ({ readers }) => readers.load(),
  ({ stand }) => stand.restart(),
]

async function simulate(stand: ForkStand, seed: number, seen: Record<string, number>): Promise<void> {
  const random = seeded(seed)
  const readers = await absentReaders(stand, seeded(seed + 1))
  const absence: Absence = { stand, readers, random }
  try {
    for (let round = 0; round < (SOAK ? 8 : 5); round += 1) {
      goOn(absence)
      await look(absence)
      await feedsSettled(stand, readers.readers)
      await readers.leave()
      for (let left = 1 + below(random, 6); left > 0; left -= 1) await EVENTS[below(random, EVENTS.length)]?.(absence)
      const isUnknown = random() < 0.7
      // The service has just started, and has not read the head yet.
      if (isUnknown) stand.restart()
      readers.comeAgain()
      await feedsSettled(stand, readers.readers)
      if (isUnknown && random() < 0.5) {
        conclude(absence)
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

// Each client only follows the documented rules: the ids show that a packed and an irreversible row are the same.
test.each(STORES.filter(([name]) => SEEDS[name] > 0))(
  'feeds: a client that was away treats no row as final that is not, loses none, and drops none of the branch, on %s',
  async (name, open) => {
    const first = seedOf(40)
    const seen: Record<string, number> = {}
    for (let seed = first; seed < first + SEEDS[name]; seed += 1)
      await withStand(open, seed, stand => simulate(stand, seed, seen))
    for (const event of ['message', 'packed', 'dropped']) expect(seen[event]).toBeGreaterThan(10)
  },
)

/** The last block below which nothing forks. */
const BASE = 40
const ROUNDS = SOAK ? 40 : 2

/** A process that loads, follows the head and serves. `kill` replaces it with a new one. */
async function startService(folder: CliFolder, node: ForkNode) {
  const plan = ['--per-second', '100000', '--per-day', '1000000000']
  const { out } = await folder.run(['keys', 'add', 'reader', ...plan])
  const begin = async () => {
    const process = folder.start(['up', '--node', node.url, '--listen', '127.0.0.1:0'])
    return { process, url: await process.firstLine }
  }
  let now = await begin()
  let kills = 0
  return {
    key: out.trimEnd().split('\n').at(-1) ?? '',
    ask: (path: string, init?: RequestInit) => fetch(now.url + path, init),
    kills: () => kills,
    kill: async () => {
      kills += 1
      now.process.kill('SIGKILL')
      await now.process.ended
      now = await begin()
    },
  }
}

/** Waits until a reader has the rows of the node's branch. */
async function settled({ list, rows, packed, done }: HeadReader, { stand: { head, lib } }: ForkNode) {
  const line = aboveOf(head, BASE).toReversed()
  const of = (isWanted: (height: number) => boolean) =>
    line.filter(({ made }) => isWanted(made.height)).flatMap(list.of)
  const expected = [of(height => height <= lib), of(height => height > lib)]
  const isSo = () => Bun.deepEquals([rows.map(list.shown), packed().map(list.shown)], expected)
  await Promise.race([until(isSo, 20), done])
}

// On Elasticsearch, kills of loaders are the matter of `test/load/loader-kills.test.ts`.
test('feeds: after kills of the service, readers lose and repeat no row, whatever branch its node is on then', async () => {
  const seed = seedOf(5)
  const random = seeded(seed)
  const forks = createForks(seed, BASE)
  const node = serveForks(forks, { head: forks.base, lib: BASE })
  await using folder = await cliFolder()
  const { ask, key, kill, kills } = await startService(folder, node)
  await until(async () => {
    const response = await ask(`/api/base/get-block-list?size=1&apikey=${key}`)
    const { data } = (await response.json()) as { readonly data?: { readonly total: number } }
    return data?.total === BASE + 1
  }, 20)
  let events = 0
  let killAt = Number.POSITIVE_INFINITY
  let killed: Promise<void> | undefined
  const onEvent = (): void => {
    events += 1
    if (events < killAt) return
    killAt = Number.POSITIVE_INFINITY
    killed = kill()
  }
  const following = { ask, key: () => key, random, onEvent, isAway: () => kills() > 0 }
  const readers = busyLists({ forks, truth: branchTruth(forks) }).map(list => headReader(list, following))
  await Promise.all(readers.map(({ open }) => open))
  for (let round = 1; round <= ROUNDS || kills() === 0; round += 1) {
    // The kill happens during the events of this round.
    if (round % 2 === 0) killAt = events + 1 + Math.floor(random() * 60)
    // The chain grows, often on another branch, and the irreversible block rises, too.
    const head = growSome(forks, node.stand, random)
    const { lib } = node.stand
    node.stand = { head, lib: lib + below(random, head.made.height - lib) }
    for (const reader of readers) await settled(reader, node)
    await killed
  }
  for (const reader of readers) await reader.stop()
  expect(kills()).toBeGreaterThan(0)
  node.stop()
})
