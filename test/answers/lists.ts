import { beforeAll, expect, test } from 'bun:test'
import { toIso } from '#chain/time.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { listCall } from '#test/support/oracle/plain-lists.ts'
import { type PlainRow, plainRecording } from '#test/support/oracle/plain-records.ts'
import type { Service } from '#test/support/processes/service.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { type ListQuery, requirePage } from './answers.ts'

type Placed = Pick<PlainRow, 'height' | 'time'>

type PlainList = {
  readonly query: ListQuery
  readonly rows: readonly Placed[]
  readonly texts: () => readonly string[]
}

/** The thoroughness of reading pages. Requests cost a thousand times more on one store than on the other. */
type Thoroughness = {
  /** Longer lists are only read completely with larger pages, and sampled with pages of 1 and 7. */
  readonly everySizeUpTo: number
  /** Longer lists are only read completely with pages of 500, and sampled with smaller pages. */
  readonly pagesOf20UpTo: number
  /** Of each kind, the first and every n-th list is read in several ways; absent: all. */
  readonly everyList?: number
  /** Whether the other lists are not read at all, instead of once. */
  readonly isSampleOnly?: true
  /** Each n-th list of either sort is requested in pages of 1 and 7; absent: all. */
  readonly smallOf?: number
}

/**
 * Page sizes and the two orders. Lists longer than this are read completely in each size and in each order, but not in
 * every combination: pages of 500 run from the first row to the last, smaller pages from the last to the first.
 */
const EVERY_WAY_UP_TO = 1_000
const WAYS = [1, 7, 20, 500].flatMap(size => (['asc', 'desc'] as const).map(sort => ({ size, sort })))

const waysOf = (length: number, { everySizeUpTo, pagesOf20UpTo }: Thoroughness): typeof WAYS =>
  WAYS.filter(
    ({ size, sort }) =>
      length <= (size < 20 ? everySizeUpTo : size < 500 ? pagesOf20UpTo : Infinity) &&
      (length <= EVERY_WAY_UP_TO || (sort === 'asc') === (size === 500)),
  )

/**
 * Most lists belong to an account and a second key, and pages do not depend on the second key. Every tenth of these lists
 * is read like all other lists. The others are read once, with pages of 500, in alternating order.
 */
const OF_TWO = /^(?:moved|called|in)\/[^/]+\/./
const EACH_OF_TWO = 10
const ONCE = WAYS.filter(({ size }) => size === 500)

type Walk = PlainList & {
  readonly ways: typeof WAYS
  /** Whether samples of pages are requested in every other size and order. */
  readonly isSampled: boolean
}

function* walksOf(lists: ReadonlyMap<string, PlainList>, thoroughness: Thoroughness): Generator<Walk> {
  const { everyList = 1, isSampleOnly } = thoroughness
  let [ofTwo, once] = [0, 0]
  const seen = new Map<string, number>()
  for (const [key, list] of lists) {
    const [kind = ''] = key.split('/')
    const number = seen.get(kind) ?? 0
    seen.set(kind, number + 1)
    const isPicked = number % everyList === 0
    if (isPicked && (!OF_TWO.test(key) || ofTwo++ % EACH_OF_TWO === 0))
      yield { ...list, ways: waysOf(list.rows.length, thoroughness), isSampled: true }
    else if (isPicked || isSampleOnly !== true)
      yield { ...list, ways: ONCE.slice(once % 2, (once++ % 2) + 1), isSampled: false }
  }
}

const samplePages = (last: number): ReadonlySet<number> =>
  new Set([1, 2, 3, Math.floor(last / 3), Math.floor(last / 2), last - 1, last, last + 1].filter(page => page > 0))

function isArray(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

/** The part of a row's text that is the same in all of its lists. */
function textOf(row: PlainRow): string {
  const known = texts.get(row)
  if (known !== undefined) return known
  const { action, data, height, hash, from, to, time, index, returned, status, facts } = row
  const before = `"action_name":${JSON.stringify(action)},"data":${isArray(data) ? data : JSON.stringify([data])}`
  const parties = `"from":${JSON.stringify(from)},"to":${JSON.stringify(to)}`
  const after = `"created_at":"${toIso(time)}","index":${index},"return":${JSON.stringify(returned)}`
  const more = JSON.stringify({ status_code: status, ...facts }).slice(1)
  const text = `${before},"block":"${height}","tx_hash":"${hash}",${parties},${after},${more}`
  texts.set(row, text)
  return text
}
const texts = new Map<PlainRow, string>()

/** Every list of the recorded chain, by its key; those of all transactions and contracts, too. */
async function readPlainLists(): Promise<ReadonlyMap<string, PlainList>> {
  const { lists } = await plainRecording()
  const all = new Map<string, PlainList>()
  const add = <R extends Placed>(
    key: string,
    query: ListQuery,
    rows: readonly R[],
    toText: (row: R, seq: number) => string,
  ) => all.set(key, { query, rows, texts: () => rows.map((row, at) => toText(row, at + 1)) })
  for (const [key, rows] of lists) {
    const call = listCall(key)
    if (call !== undefined)
      add(key, { ...call, list: 'transactions' }, rows, (row, seq) => {
        const contract = call.action === 'account-tx' ? '' : `"contract":${JSON.stringify(row.contract)},`
        return `{"seq":${seq},${contract}${textOf(row)}`
      })
    else if (key === 'contracts')
      add(key, { action: 'contract-list', list: 'contracts', params: {} }, rows, (row, seq) => {
        const { deployed: contract_id, publisher, time, hash: tx_hash } = row
        const records = lists.get(`contract/${contract_id}`)?.length ?? 0
        return JSON.stringify({ seq, contract_id, publisher, created_at: toIso(time), tx_hash, records })
      })
    else {
      const params = { account: key.slice('created/'.length) }
      add(key, { action: 'subaccount-list', list: 'accounts', params }, rows, (row, seq) => {
        const { created: name, publisher: created_by, time, hash: tx_hash } = row
        return JSON.stringify({ seq, name, created_by, created_at: toIso(time), tx_hash })
      })
    }
  }
  const sent = (await recordedBlocks()).flatMap(({ block: { height, time, transactions } }) =>
    transactions.filter(({ publisher }) => publisher !== 'base.iost').map(tx => ({ height, time, tx })),
  )
  add('transactions', { action: 'transaction-list', list: 'transactions', params: {} }, sent, (row, seq) => {
    const { hash: tx_hash, publisher, actions, receipt } = row.tx
    const { contract = '', actionName: action_name = '' } = actions[0] ?? {}
    const place = { seq, tx_hash, block: String(row.height), created_at: toIso(row.time) }
    const told = { publisher, contract, action_name, actions: actions.length, status_code: receipt.statusCode }
    const text = JSON.stringify({ ...place, ...told })
    // A number with up to two decimals, compared as it is written.
    return `${text.slice(0, -1)},"gas_fee":${(Number(receipt.gasUsage) / 100).toFixed(2).replace(/\.?0+$/, '')}}`
  })
  return all
}

export function listSuite(service: () => Service, thoroughness: Thoroughness, ranges: RangeEffort): void {
  const random = seeded(seedOf(41))
  let lists: ReadonlyMap<string, PlainList>
  let choose: (list: readonly Placed[]) => Chosen
  beforeAll(async () => {
    lists = await readPlainLists()
    choose = chooser(lists.get('transactions')?.rows ?? [], random)
  })

  test('every list matches the plain list, in pages of every size and both orders', async () => {
    let rows = 0
    let short = 0
    for (const { query, texts, ways } of walksOf(lists, thoroughness)) {
      const asc = texts()
      const hasSmall = short++ % (thoroughness.smallOf ?? 1) === 0
      for (const { size, sort } of ways) {
        if (size < 20 && !hasSmall) continue
        const sorted = { ...query, params: { ...query.params, sort } }
        const expected = sort === 'asc' ? asc : asc.toReversed()
        for (let page = 1; page === 1 || (page - 1) * size < asc.length; page++)
          await requirePage(service(), sorted, expected, { page, size })
        rows += asc.length
      }
    }
    expect(rows).toBeGreaterThan(thoroughness.isSampleOnly === true ? 5_000 : 400_000)
    expect(['transactions', 'contracts'].map(key => lists.get(key)?.rows.length)).toEqual([57_738, 23])
  })

  test('the first, last and some other pages match in sizes and orders in which a list is not read completely', async () => {
    let number = 0
    for (const { query, texts, ways, isSampled } of walksOf(lists, thoroughness)) {
      const asc = texts()
      if (!isSampled || asc.length <= thoroughness.everySizeUpTo) continue
      const walked = new Set(ways)
      const desc = asc.toReversed()
      const hasSmall = number++ % (thoroughness.smallOf ?? 1) === 0
      // The smallest sizes are requested in one order. Descending is the default order of an API call.
      for (const way of WAYS.filter(({ size, sort }) => size >= 20 || (hasSmall && sort === 'desc'))) {
        if (walked.has(way)) continue
        const { size, sort } = way
        const [order, named] = sort === 'asc' ? [asc, { sort }] : [desc, {}]
        const sorted = { ...query, params: { ...query.params, ...named } }
        for (const page of samplePages(Math.ceil(asc.length / size)))
          await requirePage(service(), sorted, order, { page, size })
      }
    }
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

  test('ranges of the longest lists and of all kinds of lists match the plain lists filtered, on every page', async () => {
    const longest = 'account/busyhub contract/token.iost action/token.iost/transfer transactions contracts'.split(' ')
    const kinds = new Map<string, number>()
    const numbers = new Map<string, number>()
    for (const [key, list] of lists) {
      if (longest.includes(key)) expect(await checkRanges(list, ranges.ofBusiest)).toBeGreaterThan(0)
      const [kind = ''] = key.split('/')
      const number = numbers.get(kind) ?? 0
      numbers.set(kind, number + 1)
      // Some lists have no row in the ranges, and each kind must be compared.
      if (kind !== 'created' && number % ranges.everyList !== 0 && (kinds.get(kind) ?? 0) > 0) continue
      kinds.set(kind, (kinds.get(kind) ?? 0) + (await checkRanges(list, 1)))
    }
    expect([...kinds].filter(([, rows]) => rows > 0).map(([kind]) => kind)).toEqual(
      expect.arrayContaining(['account', 'failed', 'contract', 'action', 'called', 'created', 'token', 'moved']),
    )
  })
}

/** The number of ranges to test. Requests cost a thousand times more on one store than on the other. */
type RangeEffort = {
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

/** Ranges that begin and end at, right before or after blocks: by height, time, row number, or several of them. */
function chooser(rows: readonly Placed[], random: () => number) {
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
    const bound = (name: string, make: () => readonly [value: string | number, test: Chosen['within']]): void => {
      const [end = '', kind = ''] = name.split('_')
      if (!kinds.includes(kind) || !ends.includes(end)) return
      const [value, test] = make()
      params[name] = String(value)
      tests.push(test)
    }
    bound('start_block', () => {
      const start = Math.max(early.height + pick([-1, 0, 0, 1]), 0)
      return [start, ({ height }) => height >= start]
    })
    bound('end_block', () => {
      // A start one block after its end is refused, which another test covers.
      const end = Math.max(late.height + pick([0, 0, 1]), Number(params['start_block'] ?? 0))
      return [end, ({ height }) => height <= end]
    })
    // The time range is chosen independently, so that the two ranges may overlap, contain or miss each other.
    const [c, d] = kinds.length > 1 ? [pick(list), pick(list)] : [early, late]
    const [from, until] = c.time <= d.time ? [c.time, d.time] : [d.time, c.time]
    bound('start_time', () => {
      const [text, first] = pick(FORMS)(from)
      return [text, ({ time }) => time >= first]
    })
    bound('end_time', () => {
      const [text, , last] = pick(FORMS)(until + pick([0n, 0n, 1n, 1_000_000_000n]))
      return [text, ({ time }) => time <= last]
    })
    bound('start_date', () => [toIso(from).slice(0, 10), ({ time }) => time >= from - (from % DAY)])
    bound('end_date', () => [toIso(until).slice(0, 10), ({ time }) => time < until - (until % DAY) + DAY])
    const [low = 1, high = 1] = [a, b].map(row => list.indexOf(row) + 1).toSorted((x, y) => x - y)
    bound('start_seq', () => [low, (_row, seq) => seq >= low])
    bound('end_seq', () => {
      const last = high + pick([0, 0, 1, list.length])
      return [last, (_row, seq) => seq <= last]
    })
    return { params, within: (row, seq) => tests.every(passes => passes(row, seq)) }
  }
}
