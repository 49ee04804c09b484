import { beforeAll, expect, test } from 'bun:test'
import { toIso } from '#chain/time.ts'
import type { Service } from '#test/support/processes/service.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { requirePage } from './answers.ts'
import { type Placed, type PlainList, plainLists } from './lists.ts'

/** The number of ranges to test. Requests cost a thousand times more on one store than on the other. */
export type RangeEffort = {
  /** The number of ranges of each of the longest lists. */
  readonly ofBusiest: number
  /** Of each kind, the first and every n-th list gets one range of its own. */
  readonly everyList: number
}

type Chosen = {
  readonly params: Readonly<Record<string, string>>
  readonly within: (row: Placed, seq: number) => boolean
}

const MS = 1_000_000n
const SECOND = 1_000_000_000n
const DAY = 86_400n * SECOND
/** A time in the forms that callers use: nanoseconds, all nine digits, as answers show it, or to the second. */
const FORMS: readonly ((time: bigint) => readonly [text: string, first: bigint, last: bigint])[] = [
  time => [String(time), time, time],
  time => [`${toIso(time).slice(0, 19)}.${String(time).slice(-9)}Z`, time, time],
  time => [toIso(time), time - (time % MS), time - (time % MS) + MS - 1n],
  time => [`${toIso(time).slice(0, 19)}Z`, time - (time % SECOND), time - (time % SECOND) + SECOND - 1n],
]

/** The ends that a range has: blocks, times, days or row numbers. */
const KINDS: readonly (readonly string[])[] = [
  ...[['block'], ['time'], ['date'], ['time', 'date']],
  ...[['block', 'time'], ['seq'], ['block', 'seq'], ['block', 'time', 'seq']],
]

/**
 * Chooses ranges that begin and end at, right before or right after blocks of the chain: by height, time, row
 * number, or several of them.
 */
export function chooser(rows: readonly Placed[], random: () => number) {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  return (list: readonly Placed[]): Chosen => {
    const a = pick(random() < 0.7 ? list : rows)
    // Now and then the block and the time of one row are both ends.
    const b = random() < 0.1 ? a : pick(random() < 0.7 ? list : rows)
    const [early, late] = a.height <= b.height ? [a, b] : [b, a]
    const params: Record<string, string> = {}
    const tests: Chosen['within'][] = []
    const kinds = pick(KINDS)
    const ends = pick([['start'], ['end'], ['start', 'end'], ['start', 'end']])
    if (kinds.includes('block') && ends.includes('start')) {
      const start = Math.max(early.height + pick([-1, 0, 0, 1]), 0)
      params['start_block'] = String(start)
      tests.push(({ height }) => height >= start)
    }
    if (kinds.includes('block') && ends.includes('end')) {
      const end = late.height + pick([0, 0, 1])
      // A start one block after its end is refused, which another test covers.
      const meant = Math.max(end, Number(params['start_block'] ?? 0))
      params['end_block'] = String(meant)
      tests.push(({ height }) => height <= meant)
    }
    // The time range is chosen independently, so that the two ranges may overlap, contain or miss each other.
    const [c, d] = kinds.length > 1 ? [pick(list), pick(list)] : [early, late]
    const [from, until] = c.time <= d.time ? [c.time, d.time] : [d.time, c.time]
    if (kinds.includes('time') && ends.includes('start')) {
      const [text, first] = pick(FORMS)(from)
      params['start_time'] = text
      tests.push(({ time }) => time >= first)
    }
    if (kinds.includes('time') && ends.includes('end')) {
      const [text, , last] = pick(FORMS)(until + pick([0n, 0n, 1n, 1_000_000_000n]))
      params['end_time'] = text
      tests.push(({ time }) => time <= last)
    }
    if (kinds.includes('date') && ends.includes('start')) {
      params['start_date'] = toIso(from).slice(0, 10)
      tests.push(({ time }) => time >= from - (from % DAY))
    }
    if (kinds.includes('date') && ends.includes('end')) {
      params['end_date'] = toIso(until).slice(0, 10)
      tests.push(({ time }) => time < until - (until % DAY) + DAY)
    }
    const [low = 1, high = 1] = [a, b].map(row => list.indexOf(row) + 1).toSorted((x, y) => x - y)
    if (kinds.includes('seq') && ends.includes('start')) {
      params['start_seq'] = String(low)
      tests.push((_row, seq) => seq >= low)
    }
    if (kinds.includes('seq') && ends.includes('end')) {
      const last = high + pick([0, 0, 1, list.length])
      params['end_seq'] = String(last)
      tests.push((_row, seq) => seq <= last)
    }
    return { params, within: (row, seq) => tests.every(passes => passes(row, seq)) }
  }
}

/** Ranges of blocks, times and row numbers, compared with the plain list filtered. */
export function rangeSuite(service: () => Service, { ofBusiest, everyList }: RangeEffort): void {
  let lists: ReadonlyMap<string, PlainList>
  const random = seeded(seedOf(41))
  let choose: (list: readonly Placed[]) => Chosen
  beforeAll(async () => {
    lists = await plainLists()
    choose = chooser(lists.get('transactions')?.rows ?? [], random)
  })

  /** Checks ranges of a list in a random order: the first, last and one random page of each, and the page beyond. */
  const checkRanges = async ({ query, rows, texts }: PlainList, count: number): Promise<number> => {
    const all = texts()
    let found = 0
    for (let n = 0; n < count; n++) {
      const { params, within } = choose(rows)
      const sort = random() < 0.5 ? 'asc' : 'desc'
      const expected = all.filter((_text, at) => within(rows[at] as Placed, at + 1))
      const ordered = sort === 'asc' ? expected : expected.toReversed()
      const size = 1 + Math.floor(random() ** 2 * 60)
      const last = Math.max(Math.ceil(expected.length / size), 1)
      const asked = { ...query, params: { ...query.params, ...params, sort } }
      for (const page of new Set([1, 1 + Math.floor(random() * last), last, last + 1]))
        await requirePage(service(), asked, ordered, { page, size })
      found += expected.length
    }
    return found
  }

  test('ranges of the longest lists match the plain lists filtered, on every page', async () => {
    const longest = [
      'account/busyhub',
      'contract/token.iost',
      'action/token.iost/transfer',
      'transactions',
      'contracts',
    ]
    for (const [key, list] of lists)
      if (longest.includes(key)) expect(await checkRanges(list, ofBusiest)).toBeGreaterThan(0)
  })

  test('ranges of all kinds of lists match the plain lists filtered', async () => {
    const kinds = new Map<string, number>()
    const numbers = new Map<string, number>()
    for (const [key, list] of lists) {
      const [kind = ''] = key.split('/')
      const number = numbers.get(kind) ?? 0
      numbers.set(kind, number + 1)
      // Some lists have no row in the ranges, and each kind must be compared.
      if (kind !== 'created' && number % everyList !== 0 && (kinds.get(kind) ?? 0) > 0) continue
      kinds.set(kind, (kinds.get(kind) ?? 0) + (await checkRanges(list, 1)))
    }
    expect([...kinds].filter(([, rows]) => rows > 0).map(([kind]) => kind)).toEqual(
      expect.arrayContaining(['account', 'failed', 'contract', 'action', 'called', 'created', 'token', 'moved']),
    )
  })
}
