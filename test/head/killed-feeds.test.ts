import { test } from 'bun:test'
import { type CliFolder, cliFolder, type Running } from '../support/processes/cli-process.ts'
import { doomed } from '../support/processes/doomed.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded, seedOf } from '../support/seeded.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { until } from '../support/wait.ts'
import { busyLists } from './checks.ts'
import { aboveOf, createForks, type ForkBlock, type ForkNode, type Forks, serveForks } from './fork-node.ts'
import { type HeadReader, headReader } from './head-reader.ts'
import { branchTruth } from './truth.ts'

/** The last block below which nothing forks. */
const BASE = 40
const ROUNDS = SOAK ? 40 : 2

/** A service that is killed, and its loader. */
type Killed = {
  readonly key: string
  ask(path: string, init?: RequestInit): Promise<Response>
  /** The number of kills of the service. */
  kills(): number
  /** Kills the service and starts it again. */
  kill(): Promise<void>
  /** Whether a request may fail because a process is down or slow. */
  isAway(): boolean
  /** Whether enough processes were killed. */
  isEnough(): boolean
  stop(): Promise<void>
}

async function keyFor(folder: CliFolder, store: readonly string[]): Promise<string> {
  const plan = ['--per-second', '100000', '--per-day', '1000000000']
  const { out } = await folder.run(['keys', 'add', 'reader', ...plan, ...store])
  return out.trimEnd().split('\n').at(-1) ?? ''
}

/** A serving process, which `kill` replaces with a new one. */
async function serving(folder: CliFolder, args: readonly string[]) {
  const begin = async (): Promise<{ readonly process: Running; readonly url: string }> => {
    const process = folder.start([...args, '--listen', '127.0.0.1:0'])
    return { process, url: await process.firstLine }
  }
  let now = await begin()
  let kills = 0
  return {
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

/** One process on SQLite loads, follows the head and serves. */
async function together(folder: CliFolder, node: ForkNode): Promise<Killed> {
  const key = await keyFor(folder, [])
  const service = await serving(folder, ['up', '--node', node.url])
  const isAway = (): boolean => service.kills() > 0
  return { key, ...service, isAway, isEnough: isAway, stop: async () => undefined }
}

/** The number of requests to Elasticsearch before a loader is killed: those of its start and some batches. */
const REQUESTS = { least: 40, more: 80 } as const
/** Growth of the limit after each loader that published nothing: on a slow machine most requests renew the lease. */
const GROWTH = 1.3

/** On Elasticsearch one process loads and is killed repeatedly after counted requests. Another one serves. */
async function apart(folder: CliFolder, node: ForkNode, random: () => number): Promise<Killed> {
  const { url, prefix, store: loaded, destroy } = openTestElastic()
  const store = ['--store', `${url}/${prefix}`]
  const heightNow = async (): Promise<number> => (await loaded.published().catch(() => undefined))?.height ?? -1
  let deaths = 0
  let stopping: Running | undefined
  let isStopped = false
  const load = async (): Promise<void> => {
    for (let [height, idle] = [-1, 0]; !isStopped; ) {
      const requests = (REQUESTS.least + random() * REQUESTS.more) * GROWTH ** idle
      const doom = await doomed(['elastic', url, prefix], Math.floor(requests))
      const loader = folder.start(['load', '--node', node.url, '--store', doom.store, '--lease', '1s'])
      stopping = loader
      doom.killWith(() => {
        deaths += 1
        loader.kill('SIGKILL')
      })
      const { code, err } = await loader.ended
      await doom.close()
      if (code < 128) throw new Error(err)
      const now = await heightNow()
      idle = now > height ? 0 : idle + 1
      height = now
    }
  }
  const loading = load()
  // The error is thrown when `stop` awaits the loader.
  loading.catch(() => undefined)
  // A service that finds no index ends at once.
  await Promise.race([until(async () => (await heightNow()) >= 0, 20), loading])
  const service = await serving(folder, ['serve', '--node', node.url, ...store])
  return {
    key: await keyFor(folder, store),
    ...service,
    // On a busy machine Elasticsearch itself may be too slow for a request.
    isAway: () => true,
    isEnough: () => service.kills() > 0 && deaths > 1,
    stop: async () => {
      isStopped = true
      stopping?.kill('SIGKILL')
      await loading
      await destroy()
    },
  }
}

/** The chain grows by some blocks, often on another branch from above the irreversible block, which rises, too. */
function goOn(forks: Forks, node: ForkNode, random: () => number): void {
  const { head, lib } = node.stand
  const above = aboveOf(head, lib)
  let tip: ForkBlock = random() < 0.6 ? (above[Math.floor(random() * above.length)]?.parent ?? head) : head
  const until = head.made.height + 2 + Math.floor(random() * 3)
  while (tip.made.height < until) tip = forks.grow(tip, { waits: random() < 0.3, seed: Math.floor(random() * 2 ** 31) })
  node.stand = { head: tip, lib: lib + Math.floor(random() * (tip.made.height - lib)) }
}

/** Waits until a reader has the rows of the node's branch. */
async function settled({ list, rows, packed, done }: HeadReader, forks: Forks, node: ForkNode) {
  const { head, lib } = node.stand
  const line = aboveOf(head, forks.base.made.height).toReversed()
  const of = (isWanted: (height: number) => boolean) =>
    line.filter(({ made }) => isWanted(made.height)).flatMap(list.of)
  const expected = [of(height => height <= lib), of(height => height > lib)]
  const isSo = () => Bun.deepEquals([rows.map(list.shown), packed().map(list.shown)], expected)
  await Promise.race([until(isSo, 20), done])
}

/** Waits until the service answers with all blocks up to the base of the forks. */
async function loaded({ ask, key }: Killed): Promise<void> {
  await until(async () => {
    const response = await ask(`/api/base/get-block-list?size=1&apikey=${key}`)
    const { data } = (await response.json()) as { readonly data?: { readonly total: number } }
    return data?.total === BASE + 1
  }, 20)
}

const PLACES = [
  ['on SQLite, which loads as well', together],
  ...(elasticsearchUrl() === undefined ? [] : [['on Elasticsearch, and its loader', apart] as const]),
] as const

test.each(PLACES)(
  'feeds: after kills of the service %s, readers lose and repeat no row, whatever branch its node is on then',
  async (_, open) => {
    const seed = seedOf(5)
    const random = seeded(seed)
    const forks = createForks(seed, BASE)
    const node = serveForks(forks, { head: forks.base, lib: BASE })
    await using folder = await cliFolder()
    const service = await open(folder, node, seeded(seed + 1))
    await loaded(service)
    let events = 0
    let killAt = Number.POSITIVE_INFINITY
    let killed: Promise<void> | undefined
    const onEvent = (): void => {
      events += 1
      if (events < killAt) return
      killAt = Number.POSITIVE_INFINITY
      killed = service.kill()
    }
    const lists = busyLists({ forks, truth: branchTruth(forks) })
    const readers = lists.map(list =>
      headReader(list, { ask: service.ask, key: () => service.key, random, onEvent, isAway: service.isAway }),
    )
    await Promise.all(readers.map(({ open }) => open))
    for (let round = 1; round <= ROUNDS || !service.isEnough(); round += 1) {
      // The kill happens during the events of this round.
      if (round % 2 === 0) killAt = events + 1 + Math.floor(random() * 60)
      goOn(forks, node, random)
      for (const reader of readers) await settled(reader, forks, node)
      await killed
    }
    for (const reader of readers) {
      reader.stop()
      await reader.done
    }
    await service.stop()
    node.stop()
  },
)
