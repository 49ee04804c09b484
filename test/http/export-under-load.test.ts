import { expect, test } from 'bun:test'
import { createKey } from '#keys/key.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { clientOf } from '#test/support/processes/client.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { type Call, callsOn, lists, opened, pagedRows, readToEnd } from './list-calls.ts'

/**
 * Every list of the registry is exported while a loader commits. Row for row, each export must equal the
 * pages of that height in a store that is not written to. Some exports begin and end at any time; others are
 * opened, left unread over a commit, and then read to their end.
 */

/** Heights at which batches end: in large steps, then block by block as near the head. */
const ENDS = SOAK ? [900, 940, 941, 942, 943, 970, 971, 1_000] : [900, 940, 941, 960]
const LIB = ENDS.at(-1) ?? 0
const PLAN = { perSecond: 1_000_000, perDay: 1_000_000_000 }
/** Each call is held open over every third commit. */
const TURNS = 3

const blocks = await recordedBlocks()
const runs = ENDS.map((end, at) => blocks.slice(at === 0 ? 0 : (ENDS[at - 1] ?? 0) + 1, end + 1))

/** Lists that are chosen at the first height, and their pages at each height, from a store that is not written to. */
async function readTruth() {
  const { store, destroy } = await temporarySqlite()
  const client = await clientOf(serviceOn(store))
  const truth = new Map<number, ReadonlyMap<string, readonly unknown[]>>()
  let calls: readonly Call[] = []
  const onCommitted = async (height: number): Promise<void> => {
    if (calls.length === 0) calls = await callsOn(store)
    const rows = new Map<string, readonly unknown[]>()
    for (const call of calls) rows.set(call.name, await pagedRows(client, call))
    truth.set(height, rows)
  }
  await commitRuns(store, runs, { lib: LIB, onCommitted })
  await destroy()
  return { calls, truth }
}

test('exports of every list during a load are correct for their height', async () => {
  const { calls, truth } = await readTruth()
  const full = calls.filter(({ name }) => (truth.get(ENDS[0] ?? 0)?.get(name)?.length ?? 0) > 0)
  expect(new Set(full.map(({ action }) => action))).toEqual(new Set(lists))
  const { store, destroy } = await temporarySqlite()
  // Keys for readers that keep one export open for long, beside that for readers of complete exports.
  const holders = calls.map((_, at) => createKey(`holder ${at}`, PLAN, { now: Date.now() }))
  const service = serviceOn(store, {
    keys: holders.map(({ stored }) => stored),
    maxExports: calls.length + 2,
    stallMs: 3_600_000,
  })
  let isDone = false
  const wrong: string[] = []
  const heights = new Set<number>()
  const check = async (call: Call, response: Response): Promise<void> => {
    const got = await readToEnd(response)
    heights.add(got.height)
    const expected = truth.get(got.height)?.get(call.name)
    if (!Bun.deepEquals(got.rows, expected)) wrong.push(`${call.name} at ${got.height}`)
  }
  /** A key may have at most two exports at once, so each reader goes through half of the lists repeatedly. */
  const reader = async (half: number): Promise<void> => {
    while (!isDone)
      for (const call of calls.filter((_, at) => at % 2 === half))
        if (!isDone) await check(call, await opened(service, call))
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
      if (at % TURNS === commits % TURNS)
        held.push([call, await opened({ ask: service.ask, key: holders[at]?.key ?? '' }, call)])
  }
  await commitRuns(store, runs, { lib: LIB, onCommitted })
  isDone = true
  await Promise.all(readers)
  for (const [call, response] of held) await check(call, response)
  expect({ wrong, heights: heights.size }).toEqual({ wrong: [], heights: ENDS.length })
  await destroy()
})
