import { beforeAll, describe, expect, test } from 'bun:test'
import type { LoadedBlock } from '#chain/block.ts'
import { createKey } from '#keys/key.ts'
import type { Store } from '#store/port.ts'
import { openProxy, pass } from '#test/support/nodes/faulty-proxy.ts'
import { fill, forkedChain } from '#test/support/nodes/forked.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { cliFolder } from '#test/support/processes/cli-process.ts'
import { clientOf } from '#test/support/processes/client.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { ageIndex } from '#test/support/stores/aged.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'
import { replayed, temporarySqlite } from '#test/support/stores/loading.ts'
import { type Call, callsOn, chooseCalls, lists, openExport, pagedRows } from './list-calls.ts'

/**
 * Exports of every list while the store changes. During a migration of indices, or while a repair takes blocks back, a
 * request to Elasticsearch of each is held until the change is done; in long runs, each of its requests, by an export each.
 * While a loader commits, some begin and end at any time; others are opened, left unread over a commit, and then read to
 * their end. Each export must equal, row for row, the list at its height in a store that is not written to; only the former
 * may be refused or break off.
 */

/** The blocks just below this height have transactions, and those of the fork have others. */
const HEIGHT = 759
/** Blocks at the end that the node no longer has. */
const ORPHANS = 3
/** Longer than any change takes, so that no held request times out. */
const PATIENT_MS = 500_000

const recorded = await recordedBlocks()

const AGED = {
  'records-000000': { properties: { places: { type: 'long' } } },
  'transactions-000000': { settings: { codec: 'best_compression' } },
  'state-0': { settings: { sort: { field: ['member'], order: ['asc'] } } },
}

/** Exports of stores that are not written to, by height. The last blocks up to 759 are those of a fork. */
const truth = new Map<number, ReadonlyMap<string, string>>()

async function remember(store: Store, calls: readonly Call[], height: number): Promise<void> {
  const texts = new Map<string, string>()
  for (const call of calls) texts.set(call.name, await (await openExport(serviceOn(store), call)).text())
  truth.set(height, texts)
}

/** The calls have names that exist at both heights. */
let calls: readonly Call[] = []
let forked: readonly LoadedBlock[]
/** The same chain as far as the node has it. */
let proved: readonly LoadedBlock[]
beforeAll(async () => {
  if (elasticsearchUrl() === undefined) return
  proved = recorded.slice(0, HEIGHT - ORPHANS + 1)
  forked = await forkedChain(HEIGHT, ORPHANS)
  for (const blocks of [proved, forked]) {
    const { store, destroy } = await temporarySqlite()
    await fill(store, blocks, HEIGHT + 5)
    if (calls.length === 0) calls = await chooseCalls(store)
    await remember(store, calls, blocks.length - 1)
    await destroy()
  }
})

/** The height of a complete and correct export, 'refused', 'broken off', or a description of the error. */
type Outcome = number | string

async function outcomeOf(call: Call, response: Response): Promise<Outcome> {
  if (response.status !== 200) return response.status === 503 ? 'refused' : `status ${response.status}`
  const height = Number(response.headers.get('x-block-height'))
  const text = await response.text().catch(() => undefined)
  if (text === undefined) return 'broken off'
  return text === truth.get(height)?.get(call.name) ? height : `WRONG at ${height}: ${text.slice(0, 300)}`
}

/** An export whose request number `nth` to Elasticsearch is held until the change is done. */
async function heldExport(target: TestElastic, call: Call, nth: number, change: Promise<unknown>) {
  const there = Promise.withResolvers<void>()
  const proxy = await openProxy(target.url, ({ number }) => {
    if (number !== nth) return pass
    there.resolve()
    return { type: 'hold', until: change }
  })
  const service = serviceOn(target.reopen({ url: proxy.url, requestTimeoutMs: PATIENT_MS }), {
    deadlineMs: PATIENT_MS,
    stallMs: PATIENT_MS,
  })
  const ended = openExport(service, call).then(response => outcomeOf(call, response))
  // The export may make fewer requests and end.
  await Promise.race([there.promise, ended])
  return async (): Promise<Outcome> => {
    const outcome = await ended
    const kinds = service.lines.map(({ fields }) => fields['kind'] ?? 'ok')
    await proxy.close()
    // No failure is reported as a defect.
    const others = kinds.filter(kind => kind !== 'ok' && kind !== 'unavailable')
    expect([call.name, nth, others]).toEqual([call.name, nth, []])
    return outcome
  }
}

/** Exports every list, and returns the number of requests that each made. */
async function countRequests(target: TestElastic, height: number): Promise<readonly number[]> {
  const proxy = await openProxy(target.url, () => pass)
  const counts: number[] = []
  const count = (): number => proxy.asked.filter(({ method }) => method !== 'DELETE').length
  for (const call of calls) {
    const [before, service] = [count(), serviceOn(target.reopen({ url: proxy.url }))]
    expect([call.name, await outcomeOf(call, await openExport(service, call))]).toEqual([call.name, height])
    counts.push(count() - before)
  }
  await proxy.close()
  return counts
}

/** In long runs every second list each, because the runtime sends at most 256 requests at once. */
const PARTS = SOAK ? [0, 1] : [0]
let counts: readonly number[] | undefined

/** Makes a change while exports of lists are held at their requests. Returns the different results. */
async function during(target: TestElastic, part: number, work: () => Promise<void>): Promise<ReadonlySet<Outcome>> {
  const change = Promise.withResolvers<void>()
  const held: Awaited<ReturnType<typeof heldExport>>[] = []
  for (const [at, call] of calls.entries()) {
    if (at % PARTS.length !== part) continue
    const count = counts?.[at] ?? 1
    const each = SOAK ? Array.from({ length: count }, (_, nth) => nth + 1) : [1 + (at % count)]
    for (const nth of each) held.push(await heldExport(target, call, nth, change.promise))
  }
  await work()
  change.resolve()
  return new Set(await Promise.all(held.map(end => end())))
}

/** The heights of the exports before and after each change. */
const CHANGES = [
  ['indices migrate', [HEIGHT - ORPHANS]],
  ['repair', [HEIGHT, HEIGHT - ORPHANS]],
] as const
/** Which of them occurs depends on where the server first notices that the data is gone. */
const FAILURES = ['refused', 'broken off']

describe.skipIf(elasticsearchUrl() === undefined)('exports of every list during a change', () => {
  test.each(CHANGES.flatMap(change => PARTS.map(part => [...change, part] as const)))(
    '%s, at the heights %p: part %d of the lists',
    async (command, heights, part) => {
      const target = openTestElastic()
      await fill(target.store, command === 'repair' ? forked : proved, HEIGHT + 5)
      await using folder = await cliFolder()
      await using node = await replayed(HEIGHT + 20)
      const more = command === 'repair' ? ['--node', node.url, '--prove', 'linked'] : ['--log-level', 'warn']
      // A migration derives all documents again from the stored blocks, which are proved again.
      if (command !== 'repair')
        for (const [name, ageing] of Object.entries(AGED))
          await ageIndex(target.url, `${target.prefix}-${name}`, ageing)
      counts ??= await countRequests(target, heights[0])
      const outcomes = await during(target, part, async () => {
        const run = [...command.split(' '), '--store', `${target.url}/${target.prefix}`, ...more]
        expect((await folder.run(run)).code).toBe(0)
      })
      expect([...outcomes]).toEqual(expect.arrayContaining([...heights]))
      expect([...outcomes].filter(each => ![...heights, ...FAILURES].includes(each as never))).toEqual([])
      await target.destroy()
    },
  )
})

/** Heights at which batches end: in large steps, then block by block as near the head. */
const ENDS = SOAK ? [900, 940, 941, 942, 943, 970, 971, 1_000] : [900, 940, 941, 960]
const LIB = ENDS.at(-1) ?? 0
/** Each call is held open over every third commit. */
const TURNS = 3

const runs = ENDS.map((end, at) => recorded.slice((ENDS[at - 1] ?? -1) + 1, end + 1))

/** Calls that are chosen at the first height. Their exports at each height have the rows of their pages. */
async function rememberRuns(): Promise<readonly Call[]> {
  const { store, destroy } = await temporarySqlite()
  const client = await clientOf(serviceOn(store))
  let calls: readonly Call[] = []
  const onCommitted = async (height: number): Promise<void> => {
    if (calls.length === 0) calls = await callsOn(store)
    await remember(store, calls, height)
    for (const call of calls)
      expect([call.name, readRows(height, call)]).toEqual([call.name, [...(await pagedRows(client, call))]])
  }
  await commitRuns(store, runs, { lib: LIB, onCommitted })
  await destroy()
  return calls
}

/** The rows of an export, without its last line. */
function readRows(height: number, { name }: Call): readonly unknown[] {
  const lines = truth.get(height)?.get(name)?.split('\n') ?? []
  return lines.slice(0, -2).map(line => JSON.parse(line))
}

test('exports of every list during a load are correct for their height', async () => {
  const calls = await rememberRuns()
  const full = calls.filter(call => readRows(ENDS[0] ?? 0, call).length > 0)
  expect(new Set(full.map(({ action }) => action))).toEqual(new Set(lists))
  const { store, destroy } = await temporarySqlite()
  // Keys for readers that keep one export open for long, beside that for readers of complete exports.
  const plan = { perSecond: 1_000_000, perDay: 1_000_000_000 }
  const holders = calls.map((_, at) => createKey(`holder ${at}`, plan, { now: Date.now() }))
  const service = serviceOn(store, {
    keys: holders.map(({ stored }) => stored),
    maxExports: calls.length + 2,
    stallMs: 3_600_000,
  })
  let isDone = false
  const outcomes = new Set<Outcome>()
  const check = async (call: Call, response: Response) => void outcomes.add(await outcomeOf(call, response))
  /** A key may have at most two exports at once, so each reader goes through half of the lists repeatedly. */
  const reader = async (half: number): Promise<void> => {
    while (!isDone)
      for (const call of calls.filter((_, at) => at % 2 === half))
        if (!isDone) await check(call, await openExport(service, call))
  }
  const readers: Promise<void>[] = []
  let commits = 0
  let held: (readonly [Call, Response])[] = []
  const onCommitted = async (): Promise<void> => {
    if (readers.length === 0) readers.push(reader(0), reader(1))
    for (const [call, response] of held) await check(call, response)
    held = []
    commits += 1
    for (const [at, call] of calls.entries())
      if (at % TURNS === commits % TURNS) held.push([call, await openExport(service, call, { key: holders[at]?.key })])
  }
  await commitRuns(store, runs, { lib: LIB, onCommitted })
  isDone = true
  await Promise.all(readers)
  for (const [call, response] of held) await check(call, response)
  expect(outcomes).toEqual(new Set(ENDS))
  await destroy()
})
