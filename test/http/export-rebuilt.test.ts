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

type Texts = ReadonlyMap<string, string>

const exported = (service: Pick<Service, 'ask' | 'key'>, call: Call): Promise<Response> =>
  ask(service, call, { format: 'ndjson', numbers: 'string' })

let calls: readonly Call[]
/** Exports of a store that is not written to, by height. The last blocks up to the highest are those of a fork. */
const truth = new Map<number, Texts>()

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

/**
 * The result of an export: the height of a complete and correct one, 'refused', 'broken off', or a
 * description of the error.
 */
type Outcome = number | string

async function outcomeOf(call: Call, response: Response): Promise<Outcome> {
  if (response.status !== 200) return response.status === 503 ? 'refused' : `status ${response.status}`
  const height = Number(response.headers.get('x-block-height'))
  const text = await response.text().catch(() => undefined)
  if (text === undefined) return 'broken off'
  return text === truth.get(height)?.get(call.name) ? height : `WRONG at ${height}: ${text.slice(0, 300)}`
}

/** An export whose request number `nth` to Elasticsearch is held until the change is done. */
async function heldExport(
  target: TestElastic,
  { call, nth, change }: { readonly call: Call; readonly nth: number; readonly change: Promise<unknown> },
) {
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
  return {
    call,
    nth,
    /** Resolves when the request is held, or when the export made fewer requests and has ended. */
    waiting: Promise.race([there.promise, ended]),
    end: async () => {
      const outcome = await ended
      const kinds = service.lines.map(({ fields }) => fields['kind']).filter(kind => kind !== undefined)
      await proxy.close()
      return { outcome, kinds }
    },
  }
}

/** The number of requests that each export makes. */
async function requestsOf(
  target: TestElastic,
  height: number,
  exports: readonly Call[] = calls,
): Promise<readonly number[]> {
  const counts: number[] = []
  for (const call of exports) {
    const proxy = await openProxy(target.url, () => pass)
    const service = serviceOn(target.reopen({ url: proxy.url }))
    expect([call.name, await outcomeOf(call, await exported(service, call))]).toEqual([call.name, height])
    counts.push(proxy.asked.filter(({ method }) => method !== 'DELETE').length)
    await proxy.close()
  }
  return counts
}

/** In long runs every second list each, because the runtime sends at most 256 requests at once. */
const PARTS = SOAK ? ['first', 'second'] : ['only']
const partOf = (part: string): readonly Call[] => calls.filter((_, at) => at % PARTS.length === PARTS.indexOf(part))
/** The requests of a list that are held: one of them in every run, each of them in long runs. */
const heldOf = (count: number, at: number): readonly number[] =>
  SOAK ? Array.from({ length: count }, (_, nth) => nth + 1) : [1 + (at % count)]

/** Makes a change while exports of lists are held at each of their requests. Returns their results. */
async function during(
  target: TestElastic,
  { height, exports }: { readonly height: number; readonly exports: readonly Call[] },
  work: () => Promise<void>,
): Promise<readonly Outcome[]> {
  const counts = await requestsOf(target, height, exports)
  const change = Promise.withResolvers<void>()
  const held: Awaited<ReturnType<typeof heldExport>>[] = []
  for (const [at, call] of exports.entries())
    for (const nth of heldOf(counts[at] ?? 0, at)) {
      const one = await heldExport(target, { call, nth, change: change.promise })
      await one.waiting
      held.push(one)
    }
  await work()
  change.resolve()
  const outcomes: Outcome[] = []
  for (const { call, nth, end } of held) {
    const { outcome, kinds } = await end()
    // No failure is reported as a defect.
    expect([call.name, nth, kinds.filter(kind => kind !== 'ok' && kind !== 'unavailable')]).toEqual([
      call.name,
      nth,
      [],
    ])
    outcomes.push(outcome)
  }
  return outcomes
}

/** Which of the failures occurs depends on where the server first notices that the data is gone. */
function expectOnly(
  outcomes: readonly Outcome[],
  { some, orElse }: { readonly some: readonly Outcome[]; readonly orElse: readonly Outcome[] },
): void {
  const seen = new Set(outcomes)
  expect(some.filter(outcome => !seen.has(outcome))).toEqual([])
  expect([...seen].filter(outcome => !some.includes(outcome) && !orElse.includes(outcome))).toEqual([])
}

describe.skipIf(elasticsearchUrl() === undefined)('exports of every list during a change', () => {
  const stored = async (blocks: readonly LoadedBlock[]) => {
    const target = openTestElastic()
    await fill(target.store, blocks, HEIGHT + 5)
    return { target, at: `${target.url}/${target.prefix}` }
  }

  // All documents are derived again from the stored blocks, which are proved again.
  test.each(PARTS)('indices migrate runs: the %s part of the lists', async part => {
    const { target, at } = await stored(proved)
    for (const [name, ageing] of Object.entries(AGED)) await ageIndex(target.url, `${target.prefix}-${name}`, ageing)
    await using folder = await cliFolder()
    const height = HEIGHT - ORPHANS
    const outcomes = await during(target, { height, exports: partOf(part) }, async () => {
      const { code, err } = await folder.run(['indices', 'migrate', '--store', at, '--log-level', 'warn'])
      expect([code, err]).toEqual([0, ''])
    })
    expectOnly(outcomes, { some: [height], orElse: ['refused', 'broken off'] })
    // Every export is complete when the change is done.
    await requestsOf(target, height)
    await target.destroy()
  })

  test.each(PARTS)('repair removes blocks that the node no longer has: the %s part of the lists', async part => {
    const { target, at } = await stored(forked)
    await using folder = await cliFolder()
    await using node = await replayed(HEIGHT + 20)
    const outcomes = await during(target, { height: HEIGHT, exports: partOf(part) }, async () => {
      const { code } = await folder.run(['repair', '--store', at, '--node', node.url, '--prove', 'linked'])
      expect(code).toBe(0)
    })
    expectOnly(outcomes, { some: [HEIGHT, HEIGHT - ORPHANS], orElse: ['refused', 'broken off'] })
    await target.destroy()
  })
})
