import type { HeadStatus } from '#head/head-state.ts'
import { type Row, rowsBetween, rowsOfTransaction } from '../generator/rows.ts'
import { txHash } from '../generator/transaction-hash.ts'
import { type ListCall, listCall } from '../support/oracle/plain-lists.ts'
import { aboveOf, type ForkBlock, type Forks } from './fork-node.ts'
import type { ForkStand } from './stand.ts'

/** A row of a branch with the hash of its transaction, which depends on the branch. */
type TrueRow = Row & { readonly hash: string }

/** The correct rows of a block, computed from its plan, and the hashes of its transactions except the base one. */
type BlockTruth = { readonly rows: readonly TrueRow[]; readonly hashes: readonly string[] }
type Truth = (block: ForkBlock) => BlockTruth

export function branchTruth({ chain: { world }, base }: Forks): Truth {
  const deployed = new Set<string>()
  for (const _ of rowsBetween(world, 0, base.made.height, deployed));
  const known = new WeakMap<ForkBlock, BlockTruth>()
  const truthOf = ({ made: { height, users } }: ForkBlock): BlockTruth => {
    const hashes = users.map(({ tx, place }) => txHash(world.seals, tx, place))
    const rows = users.flatMap(({ tx }, index) => {
      const own = rowsOfTransaction(tx, { height, position: index + 1 }, deployed)
      return own.map(row => ({ ...row, hash: hashes[index] ?? '' }))
    })
    return { rows, hashes }
  }
  return block => {
    const truth = known.get(block) ?? truthOf(block)
    known.set(block, truth)
    return truth
  }
}

/** The published height, and its blocks above the base of the forks. */
type BranchNow = {
  readonly height: number
  readonly stored: readonly ForkBlock[]
  /** The blocks above the published height on the branch that the service shows; undefined: the branch is unknown. */
  readonly above: readonly ForkBlock[] | undefined
  readonly status: HeadStatus
}

export async function branchNow({ forks, final, follower, published }: ForkStand): Promise<BranchNow> {
  const { height, hash } = await published()
  const line = aboveOf(final().head, forks.base.made.height).toReversed()
  const stored = line.filter(({ made }) => made.height <= height)
  const shown = follower.current()
  if (shown.status !== 'followed') return { height, stored, above: undefined, status: shown.status }
  if (shown.tip.height <= height) return { height, stored, above: [], status: 'followed' }
  const tip = forks.blocks.get(shown.tip.hash)
  const above = tip === undefined ? [] : aboveOf(tip, height).toReversed()
  return above[0]?.parent?.hash === hash
    ? { height, stored, above, status: 'followed' }
    : { height, stored, above: undefined, status: 'apart' }
}

export type AnsweredRow = Readonly<Record<string, unknown>>

/** A list, the rows of a block in it, in order, and the same fields of an answered row. */
export type TrueList = ListCall & {
  readonly of: (block: ForkBlock) => readonly (readonly unknown[])[]
  readonly shown: (row: AnsweredRow) => readonly unknown[]
}

const blockList: TrueList = {
  module: 'base',
  action: 'block-list',
  params: {},
  of: ({ hash, made }) => [[made.height, hash, made.texts.length, true]],
  shown: ({ number, hash, tx_count, seq }) => [number, hash, tx_count, seq === undefined || seq === Number(number) + 1],
}

const transactionList = (truth: Truth): TrueList => ({
  module: 'base',
  action: 'transaction-list',
  params: {},
  of: block => truth(block).hashes.map(hash => [hash, String(block.made.height)]),
  shown: ({ tx_hash, block }) => [tx_hash, block],
})

/** The list of records with a key; undefined: the key is not of such a list. */
function recordList(truth: Truth, key: string): TrueList | undefined {
  const of: TrueList['of'] = block => truth(block).rows.flatMap(row => (row.keys.includes(key) ? [trueCells(row)] : []))
  const call = listCall(key)
  return call && { ...call, of, shown: answeredCells }
}

/** The compared cells of a correct row. */
export function trueCells({ hash, index, height, action, from, to, returned, status }: TrueRow): readonly unknown[] {
  return [hash, index, String(height), action, from, to, returned, status]
}

const CELLS = ['tx_hash', 'index', 'block', 'action_name', 'from', 'to', 'return', 'status_code']
export const answeredCells = (row: AnsweredRow): readonly unknown[] => CELLS.map(name => row[name])

/** The lists of blocks and transactions, and of each other kind the list with the most rows. */
export function busyLists({ forks, truth }: Pick<ForkStand, 'forks' | 'truth'>): readonly TrueList[] {
  const probe = forks.grow(forks.base, { waits: false, seed: 1 })
  const counts = new Map<string, number>()
  for (const key of truth(probe).rows.flatMap(({ keys }) => keys)) counts.set(key, (counts.get(key) ?? 0) + 1)
  const kinds = new Map<string, string>()
  for (const [key] of [...counts].toSorted(([, a], [, b]) => a - b)) kinds.set(key.slice(0, key.indexOf('/')), key)
  return [blockList, transactionList(truth), ...[...kinds.values()].flatMap(key => recordList(truth, key) ?? [])]
}

/** Collects differences from the expected values. */
export function comparison() {
  const wrong: string[] = []
  const short = (value: unknown) => JSON.stringify(value)?.slice(0, 600)
  return {
    wrong,
    compare: (what: string, actual: unknown, expected: unknown): void => {
      if (!Bun.deepEquals(actual, expected, true)) wrong.push(`${what}: ${short(actual)} instead of ${short(expected)}`)
    },
  }
}

async function readPage(
  { service: { ask, key } }: ForkStand,
  { module, action }: TrueList,
  params: ListCall['params'],
) {
  const response = await ask(`/api/${module}/get-${action}?${new URLSearchParams({ ...params, apikey: key })}`)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${action} ${JSON.stringify(params)}: ${text}`)
  const { transactions, blocks, total } = JSON.parse(text).data
  return { rows: (transactions ?? blocks) as readonly AnsweredRow[], total, headers: response.headers }
}

/** Lists are also compared for this many irreversible blocks, so that pages cross the boundary. */
const IRREVERSIBLE = 20

/**
 * Differences between the lists, with and without head=1, and the branch that the service shows; [] if there is none.
 */
export async function differences(stand: ForkStand, random: () => number): Promise<readonly string[]> {
  const { forks, truth } = stand
  const { wrong, compare } = comparison()
  const now = await branchNow(stand)
  const { height, above = [] } = now
  const from = Math.max(forks.base.made.height + 1, height - IRREVERSIBLE)
  const stored = now.stored.filter(({ made }) => made.height >= from)
  const headers = [now.status, now.above === undefined ? null : String(height + above.length)]
  const ask = async (list: TrueList, isHead: boolean): Promise<void> => {
    const sort = random() < 0.5 ? 'asc' : 'desc'
    const page = 1 + Math.floor(random() * 3)
    const size = 1 + Math.floor(random() * 40)
    const part = { sort, page: String(page), size: String(size), start_block: String(from) }
    const params = { ...list.params, ...part, ...(isHead ? { head: '1' } : {}) }
    const answer = await readPage(stand, list, params)
    const names = ['x-block-height', 'x-head-status', 'x-head-height']
    const expected = [String(height), ...(isHead ? headers : [null, null])]
    const name = `${list.action} ${JSON.stringify(params)} at ${height}`
    compare(
      `${name} headers`,
      names.map(each => answer.headers.get(each)),
      expected,
    )
    // Only irreversible rows have a number.
    const standing = (block: number) => (block > height ? ['PACKED', false] : ['IRREVERSIBLE', true])
    const all = [...stored, ...(isHead ? above : [])].flatMap(block =>
      list.of(block).map(cells => [...cells, ...(isHead ? standing(block.made.height) : [])]),
    )
    compare(`${name} total`, answer.total, all.length)
    const shown = answer.rows.map(row => [
      ...list.shown(row),
      ...(isHead ? [row['status'], row['seq'] !== undefined] : []),
    ])
    compare(name, shown, (sort === 'asc' ? all : all.toReversed()).slice((page - 1) * size, page * size))
  }
  for (const isHead of [true, false]) for (const list of [blockList, transactionList(truth)]) await ask(list, isHead)
  const keys = [...stored, ...above].slice(-4).flatMap(block => truth(block).rows.flatMap(row => row.keys))
  for (let times = 0; times < 3 && keys.length > 0; times += 1) {
    const list = recordList(truth, keys[Math.floor(random() * keys.length)] ?? '')
    if (list !== undefined) await ask(list, random() < 0.8)
  }
  return wrong
}
