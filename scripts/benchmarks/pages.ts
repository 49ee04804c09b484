import type { Bench, Served } from './bench.ts'
import { CONTRACT, HUB, hashOfRow, hubRow } from './filled-chain.ts'
import { type Floor, SIZE } from './floors.ts'
import { scattered } from './holders.ts'
import { type Asked, clientsText, FIGURES, type Figures, figureCells, inTurns, ratio } from './in-turns.ts'
import { fixed, table, whole } from './measure.ts'

/** A list that is read page by page, newest row first, and what stands in it. */
export type List = {
  readonly name: string
  readonly query: string
  readonly total: number
  /** Row of an ordinal from 1. */
  readonly row: (ordinal: number) => number
}

export const hubList = ({ rows }: Bench): List => ({
  name: `get-account-tx of ${HUB}`,
  query: `module=account&action=get-account-tx&account=${HUB}&size=${SIZE}`,
  total: rows / 4,
  row: hubRow,
})
export const contractList = ({ rows }: Bench): List => ({
  name: `get-contract-tx of ${CONTRACT}`,
  query: `module=contract&action=get-contract-tx&contract=${CONTRACT}&size=${SIZE}`,
  total: rows,
  row: ordinal => ordinal - 1,
})

export const lastPage = (total: number): number => Math.ceil(total / SIZE)

/** Throws unless the page shows just the transactions that the filler put there. */
const checkPage = async (served: Served, list: List, page: number): Promise<void> => {
  const text = await served.ask(`${list.query}&page=${page}`)
  const { data } = JSON.parse(text) as {
    data: { total: number; transactions: readonly { tx_hash: string }[] }
  }
  const newest = list.total - (page - 1) * SIZE
  const expected = Array.from({ length: Math.min(SIZE, newest) }, (_, at) => hashOfRow(list.row(newest - at)))
  const shown = data.transactions.map(({ tx_hash }) => tx_hash)
  if (data.total !== list.total || !Bun.deepEquals(shown, expected))
    throw new Error(`${served.name}: page ${page} of ${list.name} (${data.total} rows) is not as filled.`)
}

const CHECKED = 20

/** Different pages of a kind; more would only fill the client's memory. */
const MOST = 1_000

/** First, middle, last and random pages of something that is read page by page. */
export const pagesAsked = (served: Served, query: string, last: number): readonly Asked[] => {
  const pages = (name: string, page: (n: number) => number): Asked =>
    served.asked(
      name,
      Array.from({ length: Math.min(MOST, last) }, (_, n) => `${query}&page=${page(n)}`),
    )
  const quarter = Math.max(1, last >> 2)
  return [
    pages('first page', () => 1),
    pages('middle pages', n => (last >> 1) + (n % quarter)),
    pages('last pages', n => last - (n % quarter)),
    pages('random pages', n => 1 + scattered(n, last)),
  ]
}

/** Pages of long lists at any depth, one client and eight, against the floors. */
export const pagesSection = async (
  bench: Bench,
  served: Served,
  floors: readonly [Floor, Floor],
): Promise<string> => {
  const parts: string[] = []
  for (const list of [hubList(bench), contractList(bench)]) {
    const last = lastPage(list.total)
    for (const page of [1, last >> 1, last - 1, last]) await checkPage(served, list, page)
    for (let n = 0; n < CHECKED; n++) await checkPage(served, list, 1 + scattered(n, last))
    const asked = [...floors, ...pagesAsked(served, list.query, last)]
    for (const clients of [1, 8, 64]) {
      const times = await inTurns(asked, { ...bench, clients })
      const what = `${served.name}, ${list.name}, ${clientsText(clients)}`
      const measured = { f2: times[1], first: times[2], pages: times.slice(floors.length) }
      if (clients === 1) judgeDepth(bench, what, measured)
      if (clients === 8) judgeRate(bench, what, measured)
      const { f2, first } = measured
      const rows = times.map(each => [
        served.name,
        each.name,
        ...figureCells(each),
        fixed(ratio(each.p50, f2?.p50)),
        fixed(ratio(each.p50, first?.p50)),
        `${whole(ratio(100 * each.perSecond, f2?.perSecond))} %`,
      ])
      parts.push(
        `${list.name}, ${whole(list.total)} rows, ${SIZE} a page, ${clientsText(clients)}:`,
        table(['store', 'what', ...FIGURES, 'p50 ÷ F2', 'p50 ÷ first', '/s of F2'], rows),
      )
    }
  }
  return parts.join('\n\n')
}

/** Times of the pages of a list, beside those of the floor F2 and of the list's first page. */
type PageTimes = {
  readonly f2: Figures | undefined
  readonly first: Figures | undefined
  readonly pages: readonly Figures[]
}

/** One client: how slow the slowest page is. */
const judgeDepth = (bench: Bench, what: string, { f2, first, pages }: PageTimes): void => {
  const slowest = Math.max(...pages.map(({ p50 }) => p50))
  bench.judge({
    promise: `${what}: slowest p50`,
    most: 2.5,
    unit: '× F2',
    measured: ratio(slowest, f2?.p50),
  })
  bench.judge({
    promise: `${what}: any depth`,
    most: 1.2,
    unit: '× its first page',
    measured: ratio(slowest, first?.p50),
  })
}

/** Several clients: how many pages they get in a second. */
const judgeRate = (bench: Bench, what: string, { f2, pages }: PageTimes): void =>
  bench.judge({
    promise: `${what}: least pages/s`,
    least: 40,
    unit: '% of F2',
    measured: ratio(100 * Math.min(...pages.map(({ perSecond }) => perSecond)), f2?.perSecond),
  })
