import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LoadProgress } from '#load/session.ts'
import { secondOpinion } from '../../support/oracle/second-opinion.ts'
import { type Testimony, type Witness, witness } from '../../support/oracle/witness.ts'
import { serviceOn } from '../../support/processes/service.ts'
import { SOAK } from '../../support/processes/soak.ts'
import { seeded, seedOf } from '../../support/seeded.ts'
import { type Dump, differences, dumpElastic } from '../../support/stores/dump.ts'
import { isGreen, masterName, type ThreeServers, threeServers, urlOfAll } from '../../support/stores/elastic-cluster.ts'
import { type OwnServer, ownServers } from '../../support/stores/elastic-process.ts'
import { openTestElastic, type TestElastic } from '../../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../../support/stores/loading.ts'
import { openTroubledLine, type Trouble, type TroubledLine } from '../../support/stores/troubled-line.ts'
import { cutOffSuite } from './cut-off.ts'

// One cluster for all tests that need servers of their own, because a start takes 10 s of CPU for each of them. The
// servers become fewer from one suite to the next.

/** The cluster does not drop a server that hangs. A server that ends is still dropped. */
const UNNOTICED = ['follower_check', 'leader_check'].map(check => `cluster.fault_detection.${check}.timeout: 1h`)

const HEIGHT = 200
const DOCUMENTS = 40
/** The height and the number of pages of the tests of a server that hangs. */
const [SHORT, PAGES] = [60, 30]
/** The tests' own time-outs never fire: the client gets around hung servers, or the test never ends. */
const NEVER_MS = 3_600_000

const own = await ownServers()
let cluster: ThreeServers
let node: Awaited<ReturnType<typeof replayed>>

describe.skipIf(own === undefined)('servers in trouble', () => {
  beforeAll(async () => {
    if (own === undefined) return
    cluster = await threeServers(own, { settings: UNNOTICED })
    node = await replayed(HEIGHT)
    await Promise.all(cluster.servers.map(({ start }) => start()))
  })
  afterAll(async () => {
    own?.[Symbol.dispose]()
    for (const line of cluster?.lines ?? []) await line.close()
    await node?.stop()
  })

  describe('one of three servers is in trouble', hungSuite)
  describe('servers are killed under load and queries', lostServersSuite)
  describe('a server that is cut off from its cluster', () => cutOffSuite(() => cluster))
  describe('the last server is killed under load and queries', killedSuite)
})

function hungSuite(): void {
  let lines: readonly TroubledLine[]
  let target: TestElastic
  beforeAll(async () => {
    node.setHeight(SHORT)
    const urls = cluster.servers.map(({ url }) => url)
    lines = await Promise.all(urls.map(url => openTroubledLine(url)))
    target = openTestElastic({ url: urlOfAll(cluster.servers), replicas: 1 })
    await isGreen(urls[0])
    await loadFrom(node.url, target.store, { to: 30 })
  })
  afterAll(async () => {
    for (const line of lines ?? []) await line.close()
    await target?.destroy()
    node?.setHeight(HEIGHT)
  })

  /** Waits for this many more right answers. */
  async function answers(watching: Witness, count: number): Promise<void> {
    for (const enough = watching.good() + count; watching.good() < enough; ) await watching.sees(200)
  }

  const troubled = () => ({
    ...target,
    url: urlOfAll(lines),
    store: target.reopen({
      url: urlOfAll(lines),
      requestTimeoutMs: NEVER_MS,
      writeTimeoutMs: NEVER_MS,
      retryTimeoutMs: NEVER_MS,
    }),
  })

  /** Requests pages continuously before, during and after a disturbance. */
  async function watchedThrough(begin: () => void, end: () => void, during = async () => {}): Promise<Testimony> {
    const { store } = troubled()
    const watching = await witness(serviceOn(store, { deadlineMs: NEVER_MS }), {
      seed: seedOf(41),
      askers: 4,
      also: [503],
    })
    try {
      await answers(watching, PAGES)
      begin()
      await Promise.all([answers(watching, PAGES), during()])
    } finally {
      end()
    }
    await answers(watching, PAGES)
    return watching.stop()
  }

  async function expectRight(seen: Testimony): Promise<void> {
    const { wrong, statuses, longestGapMs } = seen
    expect(wrong).toEqual([])
    expect(await secondOpinion(node.url, seen)).toEqual([])
    const { 200: good = 0, 503: refused = 0 } = statuses
    process.stderr.write(`${good} answers, ${refused} of 503, longest gap ${Math.round(longestGapMs)} ms\n`)
    expect(refused).toBeLessThan(PAGES / 5)
  }

  const suffer = (trouble: Trouble) => () => lines[1]?.suffer(trouble)

  test('clients are cut off from the server: pages are answered and blocks loaded through the others', async () => {
    const seen = await watchedThrough(suffer('hold'), suffer('none'), async () => {
      const { store } = troubled()
      expect(await loadFrom(node.url, store)).toBe(SHORT)
    })
    await expectRight(seen)
  })

  test('the server is slow: pages are answered by the others', async () => {
    await expectRight(await watchedThrough(suffer({ delayMs: 3_000 }), suffer('none')))
  })

  const hangs = (which: (master: string) => OwnServer | undefined) => async () => {
    const hung = which(await masterName(cluster.servers[0].url))
    await expectRight(
      await watchedThrough(
        () => hung?.pause(),
        () => hung?.resume(),
      ),
    )
  }

  test(
    'the server hangs: its copies are avoided, too',
    hangs(master => cluster.servers.find(({ name }) => name !== master)),
  )
  test(
    'the master hangs: pages do not need it',
    hangs(master => cluster.servers.find(({ name }) => name === master)),
  )
}

let undisturbed: Promise<Dump> | undefined

/** The documents of a load that nothing disturbs. */
function loadUndisturbed(): Promise<Dump> {
  undisturbed ??= (async () => {
    const clean = openTestElastic()
    await loadFrom(node.url, clean.store)
    const dump = await dumpElastic(clean.url, clean.prefix)
    await clean.destroy()
    return dump
  })()
  return undisturbed
}

/** A loader and a reader that work on one store until the chain is loaded. */
async function underLoad(target: TestElastic, seed: number) {
  await loadFrom(node.url, target.store, { to: 0 })
  const watching = await witness(serviceOn(target.reopen()), { seed, also: [503] })
  let waiting: { readonly height: number; readonly done: () => void }[] = []
  const onProgress = ({ height }: LoadProgress): void => {
    for (const one of waiting) if (height >= one.height) one.done()
    waiting = waiting.filter(one => height < one.height)
  }
  const chunk = { documents: Math.ceil(DOCUMENTS / 4), bytes: Number.MAX_SAFE_INTEGER }
  const loading = loadFrom(node.url, target.reopen({ chunk }), {
    onProgress,
    batch: { documents: DOCUMENTS, bytes: Number.MAX_SAFE_INTEGER, chunk },
  })
  // A failure is reported by `end`, which awaits the same promise.
  loading.catch(() => undefined)
  const ended = loading.then(() => {
    for (const { done } of waiting) done()
  })
  return {
    watching,
    /** Resolves when this many more blocks are committed, or all. */
    loads: (blocks: number): Promise<unknown> => {
      const height = Math.min(HEIGHT, watching.height() + blocks)
      return Promise.race([new Promise<void>(done => waiting.push({ height, done })), ended])
    },
    end: async (): Promise<Testimony> => {
      expect(await loading).toBe(HEIGHT)
      await watching.sees(200)
      expect(watching.height()).toBe(HEIGHT)
      return watching.stop()
    },
  }
}

/** Every answer was right, and the stored documents are those of an undisturbed load. */
async function expectNothingLost(target: TestElastic, seed: number, seen: Testimony): Promise<void> {
  expect([seed, seen.wrong]).toEqual([seed, []])
  expect([seed, await secondOpinion(node.url, seen)]).toEqual([seed, []])
  const dump = await dumpElastic(target.url.replace(/,.*/, ''), target.prefix)
  expect([seed, differences(dump, await loadUndisturbed())]).toEqual([seed, []])
}

/** Two servers run in the end, and the first is one of them. */
function lostServersSuite(): void {
  test('three servers with a copy of everything: killing any of them loses neither rows nor the service', async () => {
    const seed = seedOf(37)
    const random = seeded(seed)
    const nodes: readonly OwnServer[] = cluster.servers
    const kills = SOAK ? 16 : 1
    const target = openTestElastic({ url: urlOfAll(nodes), replicas: 1 })
    await isGreen(nodes[0]?.url)
    const { watching, loads, end } = await underLoad(target, seed)
    for (let kill = 1; kill <= kills; kill++) {
      const one = nodes[kill % nodes.length]
      // A copy counts only when it is complete.
      await isGreen(nodes[(kill + 1) % nodes.length]?.url)
      await loads(Math.floor(random() * 10))
      one?.kill()
      await loads(10)
      await watching.sees(200)
      // The last server to be killed stays down: the load ends with two.
      if (kill < kills) await one?.start()
    }
    const seen = await end()
    await expectNothingLost(target, seed, seen)
    const { 200: good = 0, 503: away = 0 } = seen.statuses
    process.stderr.write(`${good} answers, ${away} of 503, longest gap ${Math.round(seen.longestGapMs)} ms\n`)
    await target.destroy()
  })
}

/** A single server, which runs before and after. */
function killedSuite(): void {
  test('one server: the service answers 503 while it is down, then loader and service continue by themselves without loss', async () => {
    const seed = seedOf(31)
    const random = seeded(seed)
    const [server] = cluster.servers
    const target = openTestElastic({ url: server.url })
    const { watching, loads, end } = await underLoad(target, seed)
    for (let kill = 0; kill < (SOAK ? 20 : 1); kill++) {
      await loads(Math.floor(random() * 30))
      await Bun.sleep(random() * 100)
      server.kill()
      await watching.sees(503)
      await server.start()
      await watching.sees(200)
    }
    const seen = await end()
    await expectNothingLost(target, seed, seen)
    expect(Object.keys(seen.statuses)).toEqual(['200', '503'])
    await target.destroy()
  })
}
