import type { HeadState } from '#head/head-state.ts'
import { hashIn } from '../generator/answers.ts'
import { hashesOf } from '../generator/block.ts'
import { ancestor, type ForkBlock, leadsTo, textIn } from './fork-node.ts'
import { answeredCells, branchNow, comparison, trueCells } from './lists.ts'
import type { ForkStand } from './stand.ts'
import { type Course, fork, goTo } from './steps.ts'

/** For this long, a head lower than the shown one is treated as that of a lagging node. */
const LAG_MS = 3_000
/** For this long, a head is shown without a confirmation by a node. */
const AWAY_MS = 5_000
const MOST_BLOCKS = 600

/**
 * The expected head after a poll of a node that answers everything, given the head shown before: the hash of
 * the tip, or the reason why there is none.
 *
 * @param ageMs time since a node confirmed the shown head
 */
export async function expectedHead(stand: ForkStand, before: HeadState, ageMs: number): Promise<string> {
  const { head } = stand.asked().stand
  const { height } = head.made
  const published = await stand.published()
  const tip = before.status === 'followed' ? before.tip : undefined
  if (tip !== undefined && height < tip.height && ageMs < LAG_MS) return tip.hash
  if (height < published.height || height > published.height + MOST_BLOCKS) return 'behind'
  if (leadsTo(head, published)) return head.hash
  return tip !== undefined && ageMs < AWAY_MS ? tip.hash : 'apart'
}

// biome-ignore lint/suspicious/noExplicitAny: An answer as it came.
type Answered = any

/** An allowed answer to a query: the status of a refusal, or data. */
type Expected = { readonly refused: number } | { readonly data: Answered }

const NOT_FOUND: Expected = { refused: 404 }
const UNAVAILABLE: Expected = { refused: 503 }

type QueryTruth = Awaited<ReturnType<typeof queryTruth>>

/**
 * The published chain and the branch shown above it determine the answers. While that branch is unknown, the asked
 * node's branch counts if it leads to the published block, and a refusal is allowed, too. Things on neither are not
 * found. A node that lags behind the other one cannot know that, so a refusal is allowed then.
 */
async function queryTruth(stand: ForkStand) {
  const { forks, node, other, final } = stand
  const asked = stand.asked().stand
  const now = await branchNow(stand)
  const published = await stand.published()
  const tip = [...now.stored, ...(now.above ?? [])].at(-1) ?? forks.base
  const isCertain =
    now.above !== undefined &&
    asked.head === tip &&
    [node, other].every(({ stand: { head } }) => head.made.height <= asked.head.made.height)
  const unknown: readonly Expected[] = isCertain ? [NOT_FOUND] : [NOT_FOUND, UNAVAILABLE]
  const isIn = (line: ForkBlock, { made, hash }: ForkBlock): boolean => leadsTo(line, { height: made.height, hash })
  /** Whether a block is on the asked node's branch, while no better one is known. */
  const isAsked = (block: ForkBlock): boolean =>
    now.above === undefined && leadsTo(asked.head, published) && isIn(asked.head, block)
  const isFinal = (block: ForkBlock): boolean => block.made.height <= final().lib && isIn(final().head, block)
  /** The allowed values of "irreversible" for a block. */
  const isIrreversible = (block: ForkBlock): readonly boolean[] => {
    const { height } = block.made
    if (height <= now.height) return [true]
    if (isCertain) return [height <= asked.lib]
    return isFinal(block) ? [true, false] : [false]
  }
  const blocksOf = (block: ForkBlock): readonly Expected[] => {
    const told = isIrreversible(block).map(is => ({ data: blockData(block, is) }))
    if (isIn(tip, block)) return told
    return isAsked(block) ? [...told, UNAVAILABLE] : unknown
  }
  return {
    ...{ now, tip },
    blockAt: (height: number): readonly Expected[] => {
      const from = height <= tip.made.height ? tip : asked.head
      return height > from.made.height ? unknown : blocksOf(ancestor(from, height))
    },
    blocksOf,
    transactions: (hash: string): readonly Expected[] => {
      const holders = forks.holders.get(hash) ?? []
      const [first] = holders
      if (first === undefined) return unknown
      const toldOf = (block: ForkBlock) => isIrreversible(block).map(is => transactionData(block, hash, is))
      const holder = holders.find(block => isIn(tip, block))
      if (holder !== undefined) return toldOf(holder)
      return [
        transactionData(first, hash),
        ...holders.filter(block => isAsked(block) || isFinal(block)).flatMap(toldOf),
        ...(isCertain ? [] : [UNAVAILABLE]),
      ]
    },
    /** The rows of get-transaction-records, each with its status. */
    records: (hash: string): readonly Expected[] => {
      const holders = forks.holders.get(hash) ?? []
      if (holders.length === 0) return unknown
      const holder = holders.find(block => isIn(tip, block))
      // A transaction outside the branch counts as one in the pool. If only the node has its block, its rows
      // are unknown.
      if (holder === undefined) return [{ data: [] }, UNAVAILABLE]
      const rows = stand.truth(holder).rows.filter(row => row.hash === hash)
      const statuses = isIrreversible(holder).map(is => (is ? 'IRREVERSIBLE' : 'PACKED'))
      return statuses.map(status => ({ data: rows.map(row => [status, ...trueCells(row)]) }))
    },
  }
}

const blockData = ({ made, hash }: ForkBlock, isIrreversible: boolean) => ({
  ...{ hash, parent_hash: hashIn(made, 0), number: made.height, time: made.time, tx_count: String(made.texts.length) },
  status: isIrreversible ? 'IRREVERSIBLE' : 'PENDING',
  hashes: hashesOf(made),
})

/** The answer of `get-transaction-detail` with `numbers=string`; `isIrreversible` undefined: in no block. */
function transactionData(block: ForkBlock, hash: string, isIrreversible?: boolean): Expected {
  const { gas_ratio, gas_limit, tx_receipt, ...transaction } = JSON.parse(textIn(block, hash))
  const receipt = { ...tx_receipt, gas_usage: String(tx_receipt.gas_usage) }
  return {
    data: {
      status: isIrreversible === undefined ? 'PENDING' : isIrreversible ? 'IRREVERSIBLE' : 'PACKED',
      transaction: {
        ...{ ...transaction, gas_ratio: String(gas_ratio), gas_limit: String(gas_limit) },
        tx_receipt: isIrreversible === undefined ? {} : receipt,
      },
      block_number: isIrreversible === true ? String(block.made.height) : '-1',
    },
  }
}

/** A query, the compared part of its answer, and the correct answers. */
type Query = {
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly shown: (data: Answered) => unknown
  readonly expected: readonly Expected[]
}

/** Queries ask for this many last blocks of all branches. */
const RECENT = 40

async function ask({ service, done }: ForkStand, { path, params, shown }: Query): Promise<Expected> {
  const query = new URLSearchParams({ ...params, numbers: 'string', apikey: service.key })
  const response = await done(service.ask(`/api/${path}?${query}`))
  const text = await response.text()
  return response.status === 200 ? { data: shown(JSON.parse(text).data) } : { refused: response.status }
}

const isAny = (expected: readonly Expected[], answer: Expected): boolean =>
  expected.some(each => Bun.deepEquals(each, answer, true))

const mapped = (expected: readonly Expected[], change: (data: Answered) => unknown): readonly Expected[] =>
  expected.map(each => ('refused' in each ? each : { data: change(each.data) }))

const blockDetail = (params: Query['params'], expected: Query['expected']): Query => ({
  ...{ path: 'block/get-block-detail', params },
  shown: ({ block: { hash, parent_hash, number, time, tx_count }, status }) => ({
    ...{ hash, parent_hash, number, time, tx_count, status },
  }),
  expected: mapped(expected, ({ hashes: _, ...block }) => block),
})

const blockHashes = (params: Query['params'], expected: Query['expected']): Query => ({
  ...{ path: 'block/get-block-tx', params },
  shown: ({ transactions }) => transactions,
  expected: mapped(expected, ({ hashes }) => hashes),
})

/** A search that finds a thing, or nothing. */
const matched = (text: string, expected: Query['expected'], match: (data: Answered) => object): Query => ({
  ...{ path: 'base/search', params: { text } },
  shown: ({ matches }) => matches,
  expected: mapped(expected, data => [{ exact: true, ...match(data) }]).map(each =>
    Bun.deepEquals(each, NOT_FOUND) ? { data: [] } : each,
  ),
})

const blockSearch = (text: string, expected: Query['expected']): Query => ({
  ...matched(text, expected, ({ number, hash, status }) => ({
    ...{ type: 'block', id: String(number), block_number: String(number), hash },
    // A block is never in a pool, so PENDING of get-block-detail is PACKED here.
    status: status === 'PENDING' ? 'PACKED' : status,
  })),
  // Names may begin with a height.
  shown: ({ matches }) => matches.filter(({ type }: Answered) => type === 'block'),
})

function transactionQueries(tx_hash: string, truth: QueryTruth): readonly Query[] {
  const expected = truth.transactions(tx_hash)
  const about = (what: string, shown: Query['shown'], allowed: Query['expected']): Query => ({
    ...{ path: `transaction/get-transaction-${what}`, params: { tx_hash }, shown, expected: allowed },
  })
  const part = (read: (transaction: Answered) => unknown) => mapped(expected, data => read(data.transaction))
  const toCells = (row: Answered) => [row.status, ...answeredCells(row)]
  return [
    about('detail', data => data, expected),
    about(
      'action',
      data => data.actions,
      part(({ actions }) => actions),
    ),
    about(
      'receipt',
      data => data.receipts,
      part(({ tx_receipt }) => tx_receipt.receipts ?? []),
    ),
    about('records', ({ records }) => records.map(toCells), truth.records(tx_hash)),
    matched(tx_hash, expected, ({ block_number, status }) => ({
      ...{ type: 'transaction', id: tx_hash, block_number, hash: tx_hash, status },
    })),
  ]
}

const oneOf = <T>(some: readonly T[], random: () => number): T => some[Math.floor(random() * some.length)] as T

/** Queries for blocks of any branch, for heights, and for transactions, with their correct answers. */
function someQueries({ asked, forks }: ForkStand, truth: QueryTruth, random: () => number): readonly Query[] {
  const { tip, now, blockAt, blocksOf } = truth
  const base = forks.base.made.height
  const recent = [...forks.blocks.values()].slice(-RECENT)
  const some = [tip, asked().stand.head, oneOf(recent, random), oneOf(recent, random)]
  const blocks = some.filter(block => block !== forks.base)
  const height = Math.max(base + 1, now.height - 3 + Math.floor(random() * 12))
  const numbers = [height, now.height + 1, tip.made.height, tip.made.height + 1].filter(number => number > base)
  const byNumber = (number: number): Query =>
    oneOf([blockDetail, blockHashes], random)({ number: String(number) }, blockAt(number))
  const byHash = (block: ForkBlock): Query => {
    const { hash } = block
    const [params, expected] = [{ hash }, blocksOf(block)]
    return oneOf([blockDetail(params, expected), blockHashes(params, expected), blockSearch(hash, expected)], random)
  }
  const byTransaction = (block: ForkBlock): Query => {
    // The first transaction only exists in this block. The others are in blocks of several branches.
    const [first = '', ...others] = hashesOf(block.made)
    const hash = random() < 0.4 || others.length === 0 ? first : oneOf(others, random)
    return oneOf(transactionQueries(hash, truth), random)
  }
  const number = oneOf(numbers, random)
  return [
    ...numbers.map(byNumber),
    blockSearch(String(number), blockAt(number)),
    ...blocks.map(byHash),
    ...blocks.map(byTransaction),
  ]
}

/** Differences between answers about single blocks and transactions and the branch; [] if there is none. */
export async function queryDifferences(stand: ForkStand, random: () => number): Promise<readonly string[]> {
  const { wrong, compare } = comparison()
  const { forks, final, asked } = stand
  const truth = await queryTruth(stand)
  const { now, tip, blocksOf, transactions } = truth
  // The newest block is the tip if it is known, otherwise the published block or the asked node's head.
  const newest = now.above === undefined ? [ancestor(final().head, now.height), asked().stand.head] : [tip]
  const latest = { ...blockDetail({}, newest.flatMap(blocksOf)), path: 'block/get-latest-block' }
  for (const query of [...someQueries(stand, truth, random), latest]) {
    const answer = await ask(stand, query)
    if (!isAny(query.expected, answer)) compare(`${query.path} ${JSON.stringify(query.params)}`, answer, query.expected)
  }
  const recent = [...forks.blocks.values()].filter(block => block !== forks.base).slice(-RECENT)
  const hashes = Array.from({ length: 6 }, () => oneOf(hashesOf(oneOf(recent, random).made), random))
  const all = hashes.map(transactions)
  const several = { path: 'transaction/get-transactions', params: { tx_hashes: hashes.join(',') }, expected: [] }
  const answer = await ask(stand, { ...several, shown: data => data.transactions })
  const isTrue =
    'refused' in answer
      ? isAny(all.flat(), answer)
      : all.every((expected, at) => isAny(expected, { data: answer.data[at] }))
  if (!isTrue) compare(`get-transactions ${hashes}`, answer, all)
  return wrong
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
  const query = oneOf(someQueries(stand, truth, random), random)
  const next = fork(course, node.stand)
  let calls = Math.floor(random() * 3)
  node.meddle = () => {
    if (calls-- === 0) goTo(course, next)
    return undefined
  }
  const answer = await ask(stand, query)
  node.meddle = undefined
  const { hash, made } = truth.tip
  const number = Number(query.params['number'] ?? query.params['text'])
  const isFurther =
    leadsTo(next, { height: made.height, hash }) && number === made.height + 1 && number <= next.made.height
  const { wrong, compare } = comparison()
  if (!isFurther && !isAny([...query.expected, UNAVAILABLE], answer))
    compare(`${query.path} ${JSON.stringify(query.params)}`, answer, query.expected)
  return wrong
}
