import { hashesOf } from '../generator/block.ts'
import { ancestor, type ForkBlock, leadsTo } from './fork-node.ts'
import { type HeadReader, headReader } from './head-reader.ts'
import type { ForkStand } from './stand.ts'
import { type Course, fork, goTo } from './steps.ts'
import {
  type AnsweredRow,
  answeredRow,
  type BranchNow,
  blockList,
  branchNow,
  type Expected,
  type QueryTruth,
  queryTruth,
  recordList,
  type TrueList,
  transactionList,
  UNAVAILABLE,
} from './truth.ts'

type Page = { readonly rows: readonly AnsweredRow[]; readonly total: number; readonly headers: Headers }

async function pageOf(
  { service: { ask, key } }: ForkStand,
  { module, action }: TrueList,
  params: Readonly<Record<string, string>>,
): Promise<Page> {
  const query = new URLSearchParams({ ...params, apikey: key })
  const response = await ask(`/api/${module}/get-${action}?${query}`)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${action} ${JSON.stringify(params)}: ${text}`)
  const { data } = JSON.parse(text)
  return { rows: data.transactions ?? data.blocks, total: data.total, headers: response.headers }
}

/** The rows of a page, cut from the whole list in block order. */
function sliced<T>(
  rows: readonly T[],
  { sort, page, size }: { readonly sort: string; readonly page: number; readonly size: number },
): readonly T[] {
  const ordered = sort === 'asc' ? rows : rows.toReversed()
  return ordered.slice((page - 1) * size, page * size)
}

/** The status of a row by the published height: PACKED without a number, or IRREVERSIBLE with one. */
const standing = (height: number, published: number) =>
  height > published ? ['PACKED', false] : ['IRREVERSIBLE', true]

/** Answers are also compared for this many irreversible blocks, so that pages cross the boundary. */
const IRREVERSIBLE = 20

/** Collects differences from the expected values. */
function comparison() {
  const wrong: string[] = []
  return {
    wrong,
    compare: (what: string, actual: unknown, expected: unknown): void => {
      if (!Bun.deepEquals(actual, expected, true))
        wrong.push(
          `${what}: ${JSON.stringify(actual)?.slice(0, 600)} instead of ${JSON.stringify(expected)?.slice(0, 600)}`,
        )
    },
  }
}

/** The expected headers about the blocks above. */
const headersOf = ({ status, height, above }: BranchNow) =>
  above === undefined ? [status, null] : [status, String(height + above.length)]

/**
 * Differences between the lists, with and without head=1, and the branch that the service shows; [] if there is none.
 */
export async function differences(stand: ForkStand, random: () => number): Promise<readonly string[]> {
  const { forks, truth } = stand
  const { wrong, compare } = comparison()
  const now = await branchNow(stand)
  const { height } = now
  const from = Math.max(forks.base.made.height + 1, height - IRREVERSIBLE)
  const stored = now.stored.filter(({ made }) => made.height >= from)
  const packed = now.above ?? []
  const paging = () => ({
    sort: random() < 0.5 ? 'asc' : 'desc',
    page: 1 + Math.floor(random() * 3),
    size: 1 + Math.floor(random() * 40),
  })
  const ask = async (list: TrueList, isHead: boolean): Promise<void> => {
    const part = paging()
    const page = { sort: part.sort, page: String(part.page), size: String(part.size) }
    const params = { ...list.params, ...page, start_block: String(from), ...(isHead ? { head: '1' } : {}) }
    const { rows, total, headers } = await pageOf(stand, list, params)
    const name = `${list.action} ${JSON.stringify(params)} at ${headers.get('x-block-height')}`
    compare(`${name} height`, headers.get('x-block-height'), String(height))
    compare(
      `${name} head`,
      [headers.get('x-head-status'), headers.get('x-head-height')],
      isHead ? headersOf(now) : [null, null],
    )
    const line = [...stored, ...(isHead ? packed : [])]
    const all = line.flatMap(block =>
      list.of(block).map(cells => [...cells, ...(isHead ? standing(block.made.height, height) : [])]),
    )
    compare(`${name} total`, total, all.length)
    const shown = rows.map(row => [...list.shown(row), ...(isHead ? [row['status'], row['seq'] !== undefined] : [])])
    compare(name, shown, sliced(all, part))
  }
  for (const isHead of [true, false]) {
    await ask(blockList, isHead)
    await ask(transactionList(truth), isHead)
  }
  const lists = [...stored, ...packed]
    .slice(-4)
    .flatMap((block: ForkBlock) => truth(block).rows.flatMap(({ keys }) => keys))
  for (let times = 0; times < 3 && lists.length > 0; times += 1) {
    const list = recordList(truth, lists[Math.floor(random() * lists.length)] ?? '')
    if (list !== undefined) await ask(list, random() < 0.8)
  }
  return wrong
}

type Params = Readonly<Record<string, string>>

/** A query, the compared part of its answer, and the correct answers. */
type Query = {
  readonly path: string
  readonly params: Params
  readonly shown: (data: Answered) => unknown
  readonly expected: readonly Expected[]
}

// biome-ignore lint/suspicious/noExplicitAny: An answer as it came.
type Answered = any

/** Queries ask for this many last blocks of all branches. */
const RECENT = 40

async function ask({ service, done }: ForkStand, { path, params }: Query): Promise<Expected> {
  const query = new URLSearchParams({ ...params, numbers: 'string', apikey: service.key })
  const response = await done(service.ask(`/api/${path}?${query}`))
  const text = await response.text()
  return response.status === 200 ? { data: JSON.parse(text).data } : { refused: response.status }
}

const asShown = (answer: Expected, shown: Query['shown']): Expected =>
  'refused' in answer ? answer : { data: shown(answer.data) }

const mapped = (expected: readonly Expected[], change: (data: Answered) => unknown): readonly Expected[] =>
  expected.map(each => asShown(each, change))

/** A search without a match has an empty list of matches. */
const found = (expected: readonly Expected[]): readonly Expected[] =>
  expected.map(each => ('refused' in each && each.refused === 404 ? { data: [] } : each))

const detailOf = (params: Params, expected: readonly Expected[]): Query => ({
  path: 'block/get-block-detail',
  params,
  shown: ({ block: { hash, parent_hash, number, time, tx_count }, status }) => ({
    ...{ hash, parent_hash, number, time, tx_count, status },
  }),
  expected: mapped(expected, ({ hashes: _, ...block }) => block),
})

const hashesIn = (params: Params, expected: readonly Expected[]): Query => ({
  path: 'block/get-block-tx',
  params,
  shown: ({ transactions }) => transactions,
  expected: mapped(expected, ({ hashes }) => hashes),
})

/** A search that finds a thing, or nothing. */
const matched = (text: string, expected: readonly Expected[], match: (data: Answered) => object): Query => ({
  path: 'base/search',
  params: { text },
  shown: ({ matches }) => matches,
  expected: found(mapped(expected, data => [{ exact: true, ...match(data) }])),
})

const blockFound = (text: string, expected: readonly Expected[]): Query => ({
  ...matched(text, expected, ({ number, hash, status }) => ({
    ...{ type: 'block', id: String(number), block_number: String(number), hash },
    // A block is never in a pool, so PENDING of get-block-detail is PACKED here.
    status: status === 'PENDING' ? 'PACKED' : status,
  })),
  // Names may begin with a height.
  shown: ({ matches }) => matches.filter(({ type }: Answered) => type === 'block'),
})

function transactionOf(hash: string, truth: QueryTruth): readonly Query[] {
  const expected = truth.transactions(hash)
  const about = (what: string, shown: Query['shown'], expected: Query['expected']): Query => ({
    ...{ path: `transaction/get-transaction-${what}`, params: { tx_hash: hash }, shown, expected },
  })
  const receiptsOf = ({ transaction }: Answered) => transaction.tx_receipt.receipts ?? []
  return [
    about('detail', data => data, expected),
    about(
      'action',
      ({ actions }) => actions,
      mapped(expected, ({ transaction }) => transaction.actions),
    ),
    about('receipt', ({ receipts }) => receipts, mapped(expected, receiptsOf)),
    about(
      'records',
      ({ records }) => records.map((row: Answered) => [row.status, ...answeredRow(row)]),
      truth.records(hash),
    ),
    matched(hash, expected, ({ block_number, status }) => ({
      type: 'transaction',
      id: hash,
      block_number,
      hash,
      status,
    })),
  ]
}

/** Queries for blocks of any branch, for heights, and for transactions, with their correct answers. */
function someQueries({ asked, forks }: ForkStand, truth: QueryTruth, random: () => number): readonly Query[] {
  const oneOf = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)] as T
  const recent = [...forks.blocks.values()].slice(-RECENT)
  const { tip, now } = truth
  const height = Math.max(forks.base.made.height + 1, now.height - 3 + Math.floor(random() * 12))
  const numbers = [height, now.height + 1, tip.made.height, tip.made.height + 1].filter(
    number => number > forks.base.made.height,
  )
  const byNumber = (number: number): Query =>
    oneOf([detailOf, hashesIn])({ number: String(number) }, truth.blockAt(number))
  const byHash = ({ hash }: ForkBlock): Query =>
    oneOf([
      () => detailOf({ hash }, truth.blockOf(hash)),
      () => hashesIn({ hash }, truth.blockOf(hash)),
      () => blockFound(hash, truth.blockOf(hash)),
    ])()
  const byTransaction = (block: ForkBlock): Query => {
    // The first transaction only exists in this block. The others are in blocks of several branches.
    const [base = '', ...others] = hashesOf(block.made)
    const hash = random() < 0.4 || others.length === 0 ? base : oneOf(others)
    return oneOf(transactionOf(hash, truth))
  }
  const number = oneOf(numbers)
  return [
    ...numbers.map(byNumber),
    blockFound(String(number), truth.blockAt(number)),
    ...[tip, asked().stand.head, oneOf(recent)].filter(block => block !== forks.base).map(byHash),
    ...[tip, asked().stand.head, oneOf(recent), oneOf(recent)].filter(block => block !== forks.base).map(byTransaction),
  ]
}

/** Hashes of several transactions for one request, whose answer has `null` for unknown ones. */
function severalQuery({ forks }: ForkStand, random: () => number): readonly string[] {
  const recent = [...forks.blocks.values()].filter(block => block !== forks.base).slice(-RECENT)
  return Array.from({ length: 6 }, () => {
    const { made } = recent[Math.floor(random() * recent.length)] ?? forks.base
    const hashes = hashesOf(made)
    return hashes[Math.floor(random() * hashes.length)] ?? ''
  })
}

/** Differences between answers about single blocks and transactions and the branch; [] if there is none. */
export async function queryDifferences(stand: ForkStand, random: () => number): Promise<readonly string[]> {
  const { wrong, compare } = comparison()
  const truth = await queryTruth(stand)
  const check = async (query: Query): Promise<void> => {
    const answer = asShown(await ask(stand, query), query.shown)
    const isTrue = query.expected.some(each => Bun.deepEquals(each, answer, true))
    if (!isTrue) compare(`${query.path} ${JSON.stringify(query.params)}`, answer, query.expected)
  }
  for (const query of someQueries(stand, truth, random)) await check(query)
  await check(latestQuery(stand, truth))
  const hashes = severalQuery(stand, random)
  const all = hashes.map(hash => truth.transactions(hash))
  const answer = await ask(stand, {
    path: 'transaction/get-transactions',
    params: { tx_hashes: hashes.join(',') },
    shown: data => data,
    expected: [],
  })
  if ('refused' in answer) {
    const mayBe = all.flat().some(each => Bun.deepEquals(each, answer))
    if (!mayBe) compare(`get-transactions ${hashes}`, answer, all)
  } else
    for (const [at, data] of (answer.data as Answered).transactions.entries())
      if (!all[at]?.some(each => Bun.deepEquals(each, { data }, true)))
        compare(`get-transactions ${hashes[at]}`, { data }, all[at])
  return wrong
}

/** The newest block is the tip of the branch if it is known, otherwise the published block or the asked node's head. */
function latestQuery({ asked, final }: ForkStand, { now, tip, blockOf }: QueryTruth): Query {
  const published = ancestor(final().head, now.height)
  const known = now.above === undefined ? [published.hash, asked().stand.head.hash] : [tip.hash]
  return { ...detailOf({}, known.flatMap(blockOf)), path: 'block/get-latest-block' }
}

/**
 * The node switches to another tip between two calls of a query. The answer must be correct for one moment,
 * or be a refusal. Returns the differences; [] if there is none.
 */
export async function switchedDifferences(course: Course): Promise<readonly string[]> {
  const { stand, random } = course
  const { node } = stand
  if (stand.asked() !== node) return []
  const truth = await queryTruth(stand)
  const queries = someQueries(stand, truth, random)
  const query = queries[Math.floor(random() * queries.length)]
  if (query === undefined) return []
  const next = fork(course, node.stand)
  let calls = Math.floor(random() * 3)
  node.meddle = () => {
    if (calls-- === 0) goTo(course, next)
    return undefined
  }
  const answer = asShown(await ask(stand, query), query.shown)
  node.meddle = undefined
  const later = leadsTo(next, { ...truth.tip, height: truth.tip.made.height })
  const number = Number(query.params['number'] ?? query.params['text'])
  const further = later && number === truth.tip.made.height + 1 && number <= next.made.height
  const { wrong, compare } = comparison()
  const isTrue = [...query.expected, UNAVAILABLE].some(each => Bun.deepEquals(each, answer, true))
  if (!isTrue && !further) compare(`${query.path} ${JSON.stringify(query.params)}`, answer, query.expected)
  return wrong
}

/** The lists of blocks and transactions, and of each other kind the list with the most rows. */
export function busyLists({ forks, truth }: Pick<ForkStand, 'forks' | 'truth'>): readonly TrueList[] {
  const probe = forks.grow(forks.base, { waits: false, seed: 1 })
  const counts = new Map<string, number>()
  for (const key of truth(probe).rows.flatMap(({ keys }) => keys)) counts.set(key, (counts.get(key) ?? 0) + 1)
  const kinds = new Map<string, string>()
  for (const [key] of [...counts].toSorted(([, a], [, b]) => b - a)) {
    const kind = key.slice(0, key.indexOf('/'))
    if (!kinds.has(kind)) kinds.set(kind, key)
  }
  const lists = [...kinds.values()].map(key => recordList(truth, key)).filter(list => list !== undefined)
  return [blockList, transactionList(truth), ...lists]
}

/** Connects readers to some lists. They follow these from now on. */
export async function followLists(
  stand: ForkStand,
  lists: readonly TrueList[],
  random: () => number,
): Promise<readonly HeadReader[]> {
  const key = () => stand.service.key
  const readers = lists.map(list =>
    headReader(list, { ask: (path, init) => stand.service.ask(path, init), key, random }),
  )
  await Promise.all(readers.map(({ open }) => open))
  return readers
}

/**
 * The expected rows of a reader: irreversible rows above the base of the forks, and packed rows; undefined: not known.
 */
const expectedOf = (list: TrueList, { stored, above }: BranchNow) => ({
  rows: stored.flatMap(list.of),
  packed: above?.flatMap(list.of),
})

/** Waits until every feed has the expected rows. Throws if a row is still missing after many checks. */
export async function feedsSettled(stand: ForkStand, readers: readonly HeadReader[]): Promise<void> {
  const now = await branchNow(stand)
  for (const { list, rows, packed, done } of readers) {
    const expected = expectedOf(list, now)
    const isSo = (): boolean =>
      rows.length === expected.rows.length &&
      (expected.packed === undefined || packed().length === expected.packed.length) &&
      Bun.deepEquals(rows.map(list.shown), expected.rows) &&
      (expected.packed === undefined || Bun.deepEquals(packed().map(list.shown), expected.packed))
    let failed = false
    const stop = () => {
      failed = true
    }
    void done.catch(stop)
    for (let looks = 0; !isSo() && !failed; looks += 1) {
      if (looks === MOST_LOOKS)
        throw new Error(
          `${list.action} ${JSON.stringify(list.params)}: ${JSON.stringify([rows.slice(-3), packed()])} instead of ${JSON.stringify([expected.rows.slice(-3), expected.packed])}`,
        )
      // The steps are short, since a store that does not answer for five seconds by this clock ends the feeds.
      await stand.clock.pass(10)
      await Bun.sleep(1)
    }
    if (failed) await done
  }
}

/** The maximum number of checks. Each lets all pending work finish, so a further check would change nothing. */
const MOST_LOOKS = 20_000
