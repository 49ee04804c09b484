import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Exact, RawJson, writeJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { computeDividendRate, computeRank } from '../get-producer.ts'
import { jsonRows, rowsValue } from './listing.ts'
import { askNode, shareQuery } from './node-answer.ts'
import { countPassing } from './ordinal-search.ts'

type Heights = {
  readonly count: number
  readonly at: (ordinal: number) => number
  readonly ceiling?: number
}

/** Counts of rows below each of some bounds, and the number of rows that each look read. */
async function countsBelow({ count, at, ceiling = Number.POSITIVE_INFINITY }: Heights, bounds: readonly number[]) {
  const asked: number[] = []
  const look = async (ordinals: readonly number[]) => {
    expect(ordinals).toEqual([...new Set(ordinals)].toSorted((a, b) => a - b))
    expect(ordinals.every(ordinal => ordinal >= 1 && ordinal <= count)).toBe(true)
    asked.push(ordinals.length)
    return ordinals.map(at)
  }
  const passes = bounds.map(bound => (height: number) => height < bound)
  return { counts: await countPassing<number>({ count, floor: -1, ceiling, look }, passes), asked }
}

test('countPassing: any number of bounds is counted like by a plain filter, a short list in one look', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 2_000 }), { maxLength: 900, size: 'max' }),
      fc.array(fc.integer({ min: -5, max: 2_010 }), { maxLength: 120, size: 'max' }),
      async (unsorted, bounds) => {
        const heights = unsorted.toSorted((a, b) => a - b)
        const at = (ordinal: number) => heights[ordinal - 1] ?? Number.NaN
        const { counts, asked } = await countsBelow({ count: heights.length, at }, bounds)
        expect(counts).toEqual(bounds.map(bound => heights.filter(height => height < bound).length))
        expect(asked.every(rows => rows > 0 && rows <= Math.max(32, 8 * bounds.length))).toBe(true)
        if (heights.length <= Math.max(32, 4 * bounds.filter(bound => bound >= 0).length))
          expect(asked.length).toBeLessThanOrEqual(1)
      },
    ),
    { numRuns: 200 },
  ))

/** 10^7 rows in bursts: a thousand in every seventh block, none between. */
const BURSTS = { count: 10_000_000, at: (ordinal: number) => Math.floor((ordinal - 1) / 1000) * 7 }
const belowIn = (bound: number) => Math.min(Math.ceil(bound / 7), 10_000) * 1000

test.each([
  [2, 6],
  [93, 9],
])('countPassing: %d bounds of ten million rows take at most %d looks at any positions', (count, looks) =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 70_000 }), { minLength: count, maxLength: count }),
      fc.integer({ min: 1, max: 70_000 }),
      async (anywhere, first) => {
        for (const bounds of [anywhere, anywhere.map((_, at) => first + at)]) {
          const { counts, asked } = await countsBelow(BURSTS, bounds)
          expect(counts).toEqual(bounds.map(belowIn))
          expect(asked.length).toBeLessThanOrEqual(looks)
        }
      },
    ),
    { numRuns: 30 },
  ),
)

const EACH = { count: 10_000_000, at: (ordinal: number) => ordinal, ceiling: 70_000_000 }
const CLOSED = { ...BURSTS, ceiling: 70_000 }

test.each<readonly [Heights, readonly number[], readonly number[], number]>([
  // One bound of ten million rows, and two of 2^32.
  [EACH, [7_654_321, 70_000_001], [7_654_320, 10_000_000], 5],
  [{ count: 2 ** 32 - 1, at: EACH.at }, [3_999_999_999, 4_111_111_112], [3_999_999_998, 4_111_111_111], 8],
  // No look is needed when the ends decide, and one for a bound beyond the first or last row.
  [CLOSED, [-1, 80_001], [0, 10_000_000], 0],
  [CLOSED, [80_000, -1], [10_000_000, 0], 0],
  [BURSTS, [75_000, 76_001], [10_000_000, 10_000_000], 1],
  [{ ...BURSTS, at: (ordinal: number) => ordinal + 100 }, [50, 61], [0, 0], 1],
  [{ ...BURSTS, count: 0 }, [1, 3], [0, 0], 0],
])('countPassing: in %p below %p are %p, in at most %d looks', async (...[heights, bounds, expected, looks]) => {
  const { counts, asked } = await countsBelow(heights, bounds)
  expect(counts).toEqual([...expected])
  expect(asked.length).toBeLessThanOrEqual(looks)
})

const hostile = fc.string({
  unit: fc.constantFrom('"', '}', '{', ',', '[', ']', ':', '\\', 'data', '"data":""', '},{"', '\n'),
})

test('jsonRows, rowsValue: rows with any texts are read back, each with its own data', () =>
  fc.assert(
    fc.property(
      fc.array(fc.record({ a: hostile, data: fc.constant(''), z: hostile }), { maxLength: 6 }),
      fc.array(fc.tuple(fc.boolean(), hostile), { minLength: 6, maxLength: 6 }),
      (rows, texts) => {
        const data = texts.map(([isRaw, text]) => (isRaw ? new RawJson(JSON.stringify([text])) : text))
        const expected = rows.map((row, at) => {
          const [isRaw, text = ''] = texts[at] ?? []
          return { ...row, data: isRaw ? [text] : text }
        })
        expect(jsonRows({ rows, data }).map(row => JSON.parse(row))).toEqual(expected)
        expect(JSON.parse(writeJson(rowsValue({ rows, data })))).toEqual(expected)
      },
    ),
  ))

test('jsonRows: without data a row is written as in an answer', () => {
  const row = { amount: new Exact('9007199254740993.1'), gone: undefined }
  expect(jsonRows({ rows: [row, 'x'] })).toEqual(['{"amount":9007199254740993.1}', '"x"'])
  expect(jsonRows({ rows: [row] }, { numbers: 'string' })).toEqual(['{"amount":"9007199254740993.1"}'])
})

const signal = AbortSignal.timeout(600_000)

function saidOf(status: number, text: string, libBlock?: number): Promise<string | undefined> {
  const spoken = spokenNode({ '/getTxByHash/x': [{ status, text }] }, { libBlock: libBlock ?? 0 })
  const node: Node = { ...spoken, lastInfo: () => (libBlock === undefined ? undefined : spoken.lastInfo()) }
  const at = { height: 7, hash: 'h', time: 0n, lib: 7 }
  return askNode(node, '/getTxByHash/x', { at, signal, waitForNode: work => work() })
}

const REFUSAL = '{"code":2,"message":"tx not found"}'

test("a node does not know a thing when it says so as nodes do: the recorded node's status and text", async () => {
  expect(await saidOf(400, REFUSAL)).toBeUndefined()
  expect(await saidOf(400, REFUSAL.replace('tx', 'block'))).toBeUndefined()
  expect(await saidOf(200, REFUSAL)).toBe(REFUSAL)
})

test.each([
  [500, REFUSAL],
  [502, REFUSAL],
  [404, REFUSAL],
  [204, REFUSAL],
  [400, `<html>${REFUSAL}</html>`],
  [400, '{"code":2,"message":"account not found"}'],
  [400, '{"error":{"message":"tx not found"}}'],
])('status %p with %p says nothing of a thing', async (status, text) => {
  await expect(saidOf(status, text)).rejects.toMatchObject({
    kind: 'unavailable',
    message: `The node returned status ${status} to a query for a block or transaction.`,
  })
})

test('an archive cannot look up a hash: a thing does not exist once all of its blocks are stored', async () => {
  const text = '{"code":12,"message":"an archive of blocks does not answer getTxByHash"}'
  for (const lib of [6, 7]) expect(await saidOf(400, text, lib)).toBeUndefined()
  await expect(saidOf(400, text, 8)).rejects.toMatchObject({ kind: 'loading', details: { height: 7, lib: 8 } })
  await expect(saidOf(400, text)).rejects.toMatchObject({ kind: 'unavailable' })
})

/** The answers to a shared query at these times, and the number of times that the node was asked. */
async function sharedAt(query: () => Promise<unknown>, times: readonly number[], timeoutMs?: number) {
  let asked = 0
  const clock = handClock()
  const ask = shareQuery(() => {
    asked += 1
    return query()
  }, timeoutMs)
  const node = spokenNode({})
  const said: unknown[] = []
  for (const at of times) {
    clock.leap(at - clock.elapsed())
    said.push(await ask({ node, signal, clock }))
  }
  return [said, asked]
}
const silent = async () => {
  throw new Failure('unavailable', 'No node answers.')
}

test('shareQuery: one answer of a node is reused for half a second, separately for each node', async () => {
  let times = 0
  expect(await sharedAt(async () => ++times, [0, 499, 500])).toEqual([[1, 1, 2], 2])
  const ask = shareQuery(async () => ++times)
  const clock = handClock()
  const said = [spokenNode({}), spokenNode({})].map(node => ask({ node, signal, clock }))
  expect(await Promise.all(said)).toEqual([3, 4])
})

test('shareQuery: no answer is remembered for five seconds, a node that hangs is asked only once, and without a node there is none', async () => {
  expect(await sharedAt(silent, [0, 4999, 5000])).toEqual([[undefined, undefined, undefined], 2])
  expect(await sharedAt(() => new Promise<never>(() => undefined), [0, 0], 1)).toEqual([[undefined, undefined], 1])
  expect(await shareQuery(silent)({ node: undefined, signal, clock: handClock() })).toBeUndefined()
  await expect(sharedAt(() => Promise.reject(new TypeError('Ours.')), [0])).rejects.toThrow('Ours.')
})

test('shareQuery: a request past its deadline stops waiting while the others continue', async () => {
  const answer = Promise.withResolvers<string>()
  const ask = shareQuery(() => answer.promise)
  const node = spokenNode({})
  const late = new AbortController()
  const first = ask({ node, signal: late.signal, clock: handClock() }).catch(error => (error as Failure).kind)
  const second = ask({ node, signal, clock: handClock() })
  late.abort()
  expect(await first).toBe('deadline')
  answer.resolve('said')
  expect(await second).toBe('said')
})

const IOST = 10n ** 8n
const PAYOUTS = [
  [70, String(1000n * IOST)],
  [71, String(3n * IOST)],
  [100, String(5n * IOST)],
  [101, String(7000n * IOST)],
] as const

test.each([
  // Thirty days, including the current one: (3 + 5) ÷ 1000 × 365 ÷ 30.
  [1000n * IOST, PAYOUTS, 100, 9_733_333n],
  [0n, [[1, '5']], 1, 0n],
  // 3 × 365 ÷ 30 = 36.5; divided by 73 × 10^8 votes this is half of 10^-8, which is rounded up.
  [73n * IOST, [[1, '3']], 1, 1n],
  [73n * IOST + 1n, [[1, '3']], 1, 0n],
] as const)('computeDividendRate: %p votes, payouts %p on day %p: %p', (...[votes, payouts, today, rate]) => {
  expect(computeDividendRate({ votes, payouts }, today)).toBe(rate)
})

test('computeRank: accounts are ordered by figure, then by name', () => {
  const all = Object.entries({ b: 5n, a: 5n, c: 9n }).map(([account, votes]) => ({ account, votes }))
  expect(all.map(one => computeRank(all, one, ({ votes }) => votes))).toEqual([3, 2, 1])
})
