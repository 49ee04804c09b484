import { beforeAll, describe, expect, test } from 'bun:test'
import type { LoadedBlock } from '#chain/block.ts'
import { openProxy, pass } from '#test/support/nodes/faulty-proxy.ts'
import { fill, forkedChain } from '#test/support/nodes/forked.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { cliFolder } from '#test/support/processes/cli-process.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { ageIndex } from '#test/support/stores/aged.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'
import { replayed, temporarySqlite } from '#test/support/stores/loading.ts'
import { ask, type Call, callsOn, lists } from './list-calls.ts'

/**
 * Exports during a migration of indices, or while a repair takes blocks back. A request to Elasticsearch of an
 * export of every list is held until the change is done; in long runs, each of its requests, by an export each.
 * Each export must equal, row for row, the list at its height, or be refused, or break off.
 */

/** The blocks just below this height have transactions, and those of the fork have others. */
const HEIGHT = 759
/** Blocks at the end that the node no longer has. */
const ORPHANS = 3
/** Longer than any change takes, so that no held request times out. */
const PATIENT_MS = 500_000

const AGED = {
  'records-000000': { properties: { places: { type: 'long' } } },
  'transactions-000000': { settings: { codec: 'best_compression' } },
  'state-0': { settings: { sort: { field: ['member'], order: ['asc'] } } },
}

const exported = (service: Pick<Service, 'ask' | 'key'>, call: Call): Promise<Response> =>
  ask(service, call, { format: 'ndjson', numbers: 'string' })

let calls: readonly Call[]
/** Exports of a store that is not written to, by height. The last blocks up to the highest are those of a fork. */
const truth = new Map<number, ReadonlyMap<string, string>>()

async function remember(blocks: readonly LoadedBlock[]): Promise<void> {
  const { store, destroy } = await temporarySqlite()
  await fill(store, blocks, HEIGHT + 5)
  if (calls === undefined) {
    const all = await callsOn(store)
    calls = lists.flatMap(action => all.find(call => call.action === action) ?? [])
  }
  const service = serviceOn(store)
  const texts = new Map<string, string>()
  for (const call of calls) texts.set(call.name, await (await exported(service, call)).text())
  truth.set(blocks.length - 1, texts)
  await destroy()
}

let forked: readonly LoadedBlock[]
/** The same chain as far as the node has it. */
let proved: readonly LoadedBlock[]
beforeAll(async () => {
  if (elasticsearchUrl() === undefined) return
  // This chain first, because the names in the calls then exist at both heights.
  proved = (await recordedBlocks()).slice(0, HEIGHT - ORPHANS + 1)
  await remember(proved)
  forked = await forkedChain(HEIGHT, ORPHANS)
  await remember(forked)
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
  const ended = exported(service, call).then(response => outcomeOf(call, response))
  // The export may make fewer requests and end.
  await Promise.race([there.promise, ended])
  return async (): Promise<Outcome> => {
    const outcome = await ended
    const kinds = service.lines.map(({ fields }) => fields['kind'] ?? 'ok')
    await proxy.close()
    // No failure is reported as a defect.
    expect([call.name, nth, kinds.filter(kind => kind !== 'ok' && kind !== 'unavailable')]).toEqual([
      call.name,
      nth,
      [],
    ])
    return outcome
  }
}

/** Exports every list completely, and returns the number of requests that each made. */
async function expectAll(target: TestElastic, height: number): Promise<readonly number[]> {
  const proxy = await openProxy(target.url, () => pass)
  const counts: number[] = []
  const countRequests = (): number => proxy.asked.filter(({ method }) => method !== 'DELETE').length
  for (const call of calls) {
    const [before, service] = [countRequests(), serviceOn(target.reopen({ url: proxy.url }))]
    expect([call.name, await outcomeOf(call, await exported(service, call))]).toEqual([call.name, height])
    counts.push(countRequests() - before)
  }
  await proxy.close()
  return counts
}

/** In long runs every second list each, because the runtime sends at most 256 requests at once. */
const PARTS = SOAK ? ['first', 'second'] : ['only']
/** The number of requests that the export of each list makes. */
let counts: readonly number[] | undefined

/** Makes a change while exports of lists are held at their requests. Returns the different results. */
async function during(
  target: TestElastic,
  { height, part }: { readonly height: number; readonly part: string },
  work: () => Promise<void>,
): Promise<ReadonlySet<Outcome>> {
  counts ??= await expectAll(target, height)
  const change = Promise.withResolvers<void>()
  const held: Awaited<ReturnType<typeof heldExport>>[] = []
  for (const [at, call] of calls.entries()) {
    if (at % PARTS.length !== PARTS.indexOf(part)) continue
    const count = counts[at] ?? 1
    const each = SOAK ? Array.from({ length: count }, (_, nth) => nth + 1) : [1 + (at % count)]
    for (const nth of each) held.push(await heldExport(target, call, nth, change.promise))
  }
  await work()
  change.resolve()
  return new Set(await Promise.all(held.map(end => end())))
}

describe.skipIf(elasticsearchUrl() === undefined)('exports of every list during a change', () => {
  const stored = async (blocks: readonly LoadedBlock[]) => {
    const target = openTestElastic()
    await fill(target.store, blocks, HEIGHT + 5)
    return { target, at: `${target.url}/${target.prefix}` }
  }

  // Which of the failures occurs depends on where the server first notices that the data is gone.
  const FAILURES = ['refused', 'broken off']

  // All documents are derived again from the stored blocks, which are proved again.
  test.each(PARTS)('indices migrate runs: the %s part of the lists', async part => {
    const { target, at } = await stored(proved)
    for (const [name, ageing] of Object.entries(AGED)) await ageIndex(target.url, `${target.prefix}-${name}`, ageing)
    await using folder = await cliFolder()
    const height = HEIGHT - ORPHANS
    const outcomes = await during(target, { height, part }, async () => {
      const { code, err } = await folder.run(['indices', 'migrate', '--store', at, '--log-level', 'warn'])
      expect([code, err]).toEqual([0, ''])
    })
    expect(outcomes).toContain(height)
    expect([...outcomes].filter(each => each !== height && !FAILURES.includes(String(each)))).toEqual([])
    await expectAll(target, height)
    await target.destroy()
  })

  test.each(PARTS)('repair removes blocks that the node no longer has: the %s part of the lists', async part => {
    const { target, at } = await stored(forked)
    await using folder = await cliFolder()
    await using node = await replayed(HEIGHT + 20)
    const outcomes = await during(target, { height: HEIGHT, part }, async () => {
      const { code } = await folder.run(['repair', '--store', at, '--node', node.url, '--prove', 'linked'])
      expect(code).toBe(0)
    })
    const heights = [HEIGHT, HEIGHT - ORPHANS]
    expect([...outcomes]).toEqual(expect.arrayContaining(heights))
    expect([...outcomes].filter(each => !heights.includes(Number(each)) && !FAILURES.includes(String(each)))).toEqual(
      [],
    )
    await target.destroy()
  })
})
