import { type BranchNow, branchNow } from './branch-now.ts'
import type { ForkBlock } from './fork-node.ts'
import type { ForkStand } from './stand.ts'
import { type AnsweredRow, blockList, recordList, type TrueList, transactionList } from './true-list.ts'

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
export function comparison() {
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
