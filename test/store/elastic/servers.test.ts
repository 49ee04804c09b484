import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { accounts } from '#indices/account.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { wealth } from '#indices/wealth.ts'
import type { LoadProgress } from '#load/session.ts'
import type { Batch, Store, View } from '#store/port.ts'
import { blockDoc, createDoc, identity, listAt, publishedAt, tellingBatch, totalAt } from '#test/store/suite/fixture.ts'
import { type Asked, openProxy, pass } from '#test/support/nodes/faulty-proxy.ts'
import { failureOf } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { secondOpinion, type Testimony, type Witness, witness } from '../../support/oracle/witness.ts'
import { serviceOn } from '../../support/processes/service.ts'
import { SOAK } from '../../support/processes/soak.ts'
import { seeded, seedOf } from '../../support/seeded.ts'
import { type Dump, differences, dumpElastic } from '../../support/stores/dump.ts'
import {
  healthy,
  isGreen,
  masterName,
  type OwnServer,
  ownServers,
  type ThreeServers,
  threeServers,
  urlOfAll,
} from '../../support/stores/elastic-process.ts'
import { openTestElastic, type TestElastic } from '../../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../../support/stores/loading.ts'
import { openTroubledLine, type Trouble, type TroubledLine } from '../../support/stores/troubled-line.ts'

// One cluster for all tests that need servers of their own, because a start takes 10 s of CPU for each of them. The
// servers become fewer from one suite to the next.

const HEIGHT = 120
const DOCUMENTS = 40
/** The height and the number of pages of the tests of a server that hangs. */
const [SHORT, PAGES] = [60, 30]
/** The tests' own time-outs never fire: the client gets around hung servers, or the test never ends. */
const NEVER_MS = 3_600_000

const own = ownServers()
let cluster: ThreeServers
let node: Awaited<ReturnType<typeof replayed>>

describe.skipIf(own === undefined)('servers in trouble', () => {
  beforeAll(async () => {
    if (own === undefined) return
    cluster = await threeServers(own)
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
  describe('a server that is cut off from its cluster', cutOffSuite)
  describe('the last server is killed under load and queries', killedSuite)
})

/** Prints how often a service answered. Returns the number of refusals. */
function report({ statuses, longestGapMs }: Testimony): number {
  const { 200: good = 0, 503: refused = 0 } = statuses
  process.stderr.write(`${good} answers, ${refused} of 503, longest gap ${Math.round(longestGapMs)} ms\n`)
  return refused
}

function hungSuite(): void {
  let lines: readonly TroubledLine[]
  let target: TestElastic
  let master: OwnServer | undefined
  beforeAll(async () => {
    node.setHeight(SHORT)
    const urls = cluster.servers.map(({ url }) => url)
    lines = await Promise.all(urls.map(url => openTroubledLine(url)))
    target = openTestElastic({ url: urlOfAll(cluster.servers), replicas: 1 })
    await isGreen(urls[0])
    await loadFrom(node.url, target.store, { to: 30 })
    const hung = await masterName(cluster.servers[0].url)
    master = cluster.servers.find(({ name }) => name === hung)
  })
  afterAll(async () => {
    for (const line of lines ?? []) await line.close()
    await target?.destroy()
    node?.setHeight(HEIGHT)
  })

  const never = { requestTimeoutMs: NEVER_MS, writeTimeoutMs: NEVER_MS, retryTimeoutMs: NEVER_MS }
  const openTroubled = () => target.reopen({ url: urlOfAll(lines), ...never })
  const suffer = (trouble: Trouble) => () => lines[1]?.suffer(trouble)
  const load = async () => expect(await loadFrom(node.url, openTroubled())).toBe(SHORT)
  type Disturbance = readonly [what: string, begin: () => void, end: () => void, during?: () => Promise<void>]
  const disturbances: readonly Disturbance[] = [
    ['clients are cut off from it: blocks are loaded through the others', suffer('hold'), suffer('none'), load],
    ['it is slow', suffer({ delayMs: 3_000 }), suffer('none')],
    ['it hangs and is the master: its copies are avoided', () => master?.pause(), () => master?.resume()],
  ]

  test.each(disturbances)('%s; pages are answered by the others', async (...[, begin, end, during]) => {
    const service = serviceOn(openTroubled(), { deadlineMs: NEVER_MS })
    const watching = await witness(service, { seed: seedOf(41), askers: 4, also: [503] })
    /** Waits for more right answers. */
    const seePages = async (): Promise<void> => {
      for (const enough = watching.good() + PAGES; watching.good() < enough; ) await watching.sees(200)
    }
    try {
      await seePages()
      begin()
      await Promise.all([seePages(), during?.()])
    } finally {
      end()
    }
    await seePages()
    const seen = await watching.stop()
    expect(seen.wrong).toEqual([])
    expect(await secondOpinion(node.url, seen)).toEqual([])
    expect(report(seen)).toBeLessThan(PAGES / 5)
  })
}

let undisturbed: Promise<Dump> | undefined

/** The documents of a load that nothing disturbs. */
async function loadUndisturbed(): Promise<Dump> {
  await using clean = openTestElastic()
  await loadFrom(node.url, clean.store)
  return await dumpElastic(clean.url, clean.prefix)
}

type UnderLoad = {
  readonly watching: Witness
  readonly random: () => number
  /** Resolves when this many more blocks are committed, or all. */
  readonly loads: (blocks: number) => Promise<unknown>
}

/**
 * Disturbs a loader and a reader until the chain is loaded. Every answer must be right, and the stored documents those
 * of an undisturbed load.
 */
async function loadThrough(target: TestElastic, seed: number, disturb: (under: UnderLoad) => Promise<void>) {
  await loadFrom(node.url, target.store, { to: 0 })
  const watching = await witness(serviceOn(target.reopen()), { seed, also: [503] })
  let waiting: { readonly height: number; readonly done: () => void }[] = []
  const onProgress = ({ height }: LoadProgress): void => {
    for (const one of waiting) if (height >= one.height) one.done()
    waiting = waiting.filter(one => height < one.height)
  }
  const chunk = { documents: Math.ceil(DOCUMENTS / 4), bytes: Number.MAX_SAFE_INTEGER }
  const batch = { documents: DOCUMENTS, bytes: Number.MAX_SAFE_INTEGER, chunk }
  const loading = loadFrom(node.url, target.reopen({ chunk }), { onProgress, batch })
  const ended = loading.catch(() => undefined)
  const loads = (blocks: number): Promise<unknown> => {
    const height = Math.min(HEIGHT, watching.height() + blocks)
    return Promise.race([new Promise<void>(done => waiting.push({ height, done })), ended])
  }
  await disturb({ watching, random: seeded(seed), loads })
  expect(await loading).toBe(HEIGHT)
  await watching.sees(200)
  expect(watching.height()).toBe(HEIGHT)
  const seen = await watching.stop()
  expect([seed, seen.wrong]).toEqual([seed, []])
  expect([seed, await secondOpinion(node.url, seen)]).toEqual([seed, []])
  const dump = await dumpElastic(target.url.replace(/,.*/, ''), target.prefix)
  undisturbed ??= loadUndisturbed()
  expect([seed, differences(dump, await undisturbed)]).toEqual([seed, []])
  return seen
}

/** Two servers run in the end, and the first is one of them. */
function lostServersSuite(): void {
  test('three servers with a copy of everything: killing any of them loses neither rows nor the service', async () => {
    const nodes: readonly OwnServer[] = cluster.servers
    const kills = SOAK ? 16 : 1
    await using target = openTestElastic({ url: urlOfAll(nodes), replicas: 1 })
    await isGreen(nodes[0]?.url)
    const seen = await loadThrough(target, seedOf(37), async ({ watching, random, loads }) => {
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
    })
    report(seen)
  })
}

/** A single server, which runs before and after. */
function killedSuite(): void {
  test('one server: the service answers 503 while it is down, then loader and service continue by themselves without loss', async () => {
    const [server] = cluster.servers
    await using target = openTestElastic({ url: server.url })
    const { statuses } = await loadThrough(target, seedOf(31), async ({ watching, random, loads }) => {
      for (let kill = 0; kill < (SOAK ? 20 : 1); kill++) {
        await loads(Math.floor(random() * 30))
        await Bun.sleep(random() * 100)
        server.kill()
        await watching.sees(503)
        await server.start()
        await watching.sees(200)
      }
    })
    expect(Object.keys(statuses)).toEqual(['200', '503'])
  })
}

/** The height that both servers have, and the height that only the remaining server has. */
const [BEFORE, AFTER] = [5, 9]

let main: OwnServer
let cutOff: OwnServer
let target: TestElastic
/** A proxy that sends each request to one of the two servers, as `isStale` decides. */
let proxy: Awaited<ReturnType<typeof openProxy>>
let isStale: (asked: Asked) => boolean = () => false
let to = ''

function createAccountBatch(height: number, name: string): Batch {
  const batch = tellingBatch(height, height)
  return { ...batch, changes: [...batch.changes, { index: accounts, doc: createDoc(accounts, name, { name }) }] }
}

const newest = blockDoc(AFTER)
/** One of each request, and those whose answers are judged in their own way. */
const cases: readonly (readonly [what: string, read: (view: View) => Promise<unknown>, right: unknown])[] = [
  ['a document of state', async view => (await view.get(wealth, 'a'))?.total, totalAt(AFTER)],
  ['a document of history', async view => (await view.get(blocks, blockId(AFTER)))?.hash, newest.hash],
  ['a search by hash', async view => (await view.find(blocks, 'hash8', newest.hash8)).length, 1],
  [
    'a ranking',
    async view => (await view.page(wealth, 'richest', { offset: 0, limit: 1 })).map(({ total }) => total),
    [totalAt(AFTER)],
  ],
  ['rows of a list', async view => (await view.records(listAt(AFTER), 1, AFTER + 1)).length, AFTER + 1],
  ['moments', async view => (await view.moments(listAt(AFTER), [AFTER + 1])).map(({ height }) => height), [AFTER]],
  ['names', async view => (await view.startingWith(accounts, 'u', 10)).map(({ id }) => id), ['u1', 'u2']],
]

async function workThrough<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = target.reopen({ url: proxy.url, requestTimeoutMs: 10_000 })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** An audit's view of the last batch. */
async function auditLast(store: Store) {
  const audit = await store.audit()
  const [richest] = await audit.getMany(wealth, ['a'])
  const [block, account] = [await audit.existing(blocks, [blockId(AFTER)]), await audit.existing(accounts, ['u2'])]
  await audit.close()
  return { richest: richest?.total, hasBlock: block.size === 1, hasAccount: account.size === 1 }
}

/** Of an outage that ends by itself. */
const TEMPORARY = { kind: 'unavailable', retryable: true }

async function expectOutOfDate(work: Promise<unknown>): Promise<void> {
  expect(await failureOf(work)).toMatchObject({ ...TEMPORARY, message: expect.stringContaining('out of date') })
}

const isCount = ({ body }: Asked): boolean => body.includes('"track_total_hits":true')

/** Requests of these calls go to the server that is cut off, all others to the remaining one. */
function staleAt(
  calls: readonly string[],
  atMost = Number.POSITIVE_INFINITY,
  of = (asked: Asked) => !isCount(asked),
): void {
  let left = atMost
  isStale = asked => {
    const call = /_[a-z_]+(?=\?|$)/.exec(asked.path)?.[0] ?? ''
    return calls.includes(call) && of(asked) && left-- > 0
  }
}
const READS = ['_mget', '_search', '_msearch', '_terms_enum']

/**
 * The first server remains, and the third is cut off from it. The second does not run any more. Afterwards the first
 * runs alone.
 */
function cutOffSuite(): void {
  beforeAll(async () => {
    const { servers, lines } = cluster
    main = servers[0]
    cutOff = servers[2]
    // The first server alone decides about the cluster.
    const { name } = servers[1]
    await ask('POST', `${main.url}/_cluster/voting_config_exclusions?node_names=${name},${cutOff.name}`)
    target = openTestElastic({ url: main.url, replicas: 1 })
    await target.store.create()
    const writer = await target.store.takeOver(identity)
    await commitBatch(writer, tellingBatch(0, BEFORE - 1))
    await commitBatch(writer, createAccountBatch(BEFORE, 'u1'))
    await isGreen(main.url)
    for (const line of lines) line.suffer('cut')
    // The master removes the other server's copies from the set of active copies.
    await healthy(main.url, 'wait_for_nodes=1')
    await commitBatch(writer, tellingBatch(BEFORE + 1, AFTER - 1))
    await commitBatch(writer, createAccountBatch(AFTER, 'u2'))
    await writer.release()
    proxy = await openProxy(
      () => to,
      asked => {
        to = isStale(asked) ? cutOff.url : main.url
        return pass
      },
    )
  })
  afterAll(async () => {
    await proxy?.close()
    await target?.destroy()
    cutOff?.kill()
  })

  test('the copies of the cut-off server are outdated, as these tests need', async () => {
    const { _source } = await ask<{ _source: { value: string } }>(
      'GET',
      `${cutOff.url}/${target.prefix}-state-0/_doc/${encodeURIComponent('wealth/a')}?realtime=false`,
    )
    expect(_source.value).toBe(String(totalAt(BEFORE)))
  })

  for (const [what, read, right] of cases)
    test(`${what}: the old value is never returned, and another copy is read`, async () => {
      staleAt(READS)
      const answer = await workThrough(store => store.read(read)).catch((error: unknown) => error)
      if (answer instanceof Error) expect(answer).toMatchObject(TEMPORARY)
      else expect(answer).toEqual(right)
      staleAt(READS, 2)
      expect(await workThrough(store => store.read(read))).toEqual(right)
    })

  const posted = ({ method }: Asked): boolean => method === 'POST'
  const always = Number.POSITIVE_INFINITY

  test('an export is read from a current copy', () =>
    workThrough(async store => {
      staleAt(['_pit', '_search'])
      await expectOutOfDate(store.hold({ state: [wealth] }))
      // The point in time of an earlier test may still be closing.
      staleAt(['_pit', '_search'], 2, posted)
      const { view, close } = await store.hold({ state: [wealth] })
      expect((await view.get(wealth, 'a'))?.total).toBe(totalAt(AFTER))
      close()
    }))

  test('a loader reads the current state; a count that is too low on the cut-off server is not damage; while no copy is known to be current, it fails temporarily', () =>
    workThrough(async store => {
      isStale = () => false
      const writer = await store.takeOver(identity)
      const right = tellingBatch(AFTER, AFTER).changes.flatMap(({ index, doc }) => (index === wealth ? [doc] : []))
      staleAt(['_pit', '_search'], 2, posted)
      const state = await writer.openState()
      expect<unknown>(right.map(({ id }) => state.get(wealth, id))).toEqual(right)
      expect(state.members({ index: wealth, order: 'richest' })).toEqual(right)
      await writer.release()
      staleAt(['_msearch'], 1, isCount)
      await (await store.takeOver(identity)).release()
      expect(await store.published()).toEqual(publishedAt(AFTER))
      staleAt(['_msearch', '_search_shards'], always, () => true)
      expect(await failureOf(store.takeOver(identity))).toMatchObject(TEMPORARY)
    }))

  test('an audit reports no damage for documents that only the cut-off server lacks, but those of the last batch that are really missing', async () => {
    staleAt(['_pit', '_search'], always, posted)
    await expectOutOfDate(workThrough(auditLast))
    staleAt(['_pit', '_search'], 2, posted)
    const whole = { richest: totalAt(AFTER), hasBlock: true, hasAccount: true }
    expect(await workThrough(auditLast)).toEqual(whole)
    isStale = () => false
    const lost = `${main.url}/${target.prefix}-state-0/_doc/${encodeURIComponent('accounts/u2')}?refresh=true`
    await ask('DELETE', lost)
    expect(await workThrough(auditLast)).toEqual({ ...whole, hasAccount: false })
  })
}
