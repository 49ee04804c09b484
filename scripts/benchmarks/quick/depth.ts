import { SIZE } from '../floors.ts'
import { ratio } from '../in-turns.ts'
import { type Ask, fixed, interleaved, table, whole } from '../measure.ts'
import type { Side } from './sides.ts'

/** Lists of the recorded chain that are read page by page: of a token, of an account with it, and of the whole chain. */
const LISTS: Readonly<Record<string, string>> = {
  'get-token-tx': 'module=token&action=get-token-tx&token=iost',
  'get-account-tx with token': 'module=account&action=get-account-tx&account=busyhub&token=iost',
  'get-transaction-list': 'module=base&action=get-transaction-list',
  'get-contract-list': 'module=base&action=get-contract-list',
  'get-token-list': 'module=base&action=get-token-list',
  'get-producer-list': 'module=base&action=get-producer-list',
}
/** Enough for a median; all are asked in turns, so that other work meets them alike. */
const CALLS = 200
/** Where a list is short, its pages are small, so that it has a middle. */
const PAGES = 5

/** What the first, the middle and the last full page of each list cost one client. */
export const depthRows = async (store: string, { service, key }: Side): Promise<readonly string[][]> => {
  const rows: string[][] = []
  for (const [name, query] of Object.entries(LISTS)) {
    const ask = async (more: string): Promise<string> => {
      const answer = await fetch(`${service.url}/api/?${query}&${more}&apikey=${key}`)
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${query}&${more}: ${answer.status} ${text}`)
      return text
    }
    const { data } = JSON.parse(await ask('size=1')) as { readonly data: { readonly total: number } }
    const size = Math.max(1, Math.min(SIZE, Math.floor(data.total / PAGES)))
    const last = Math.floor(data.total / size)
    const pages = [1, (last + 1) >> 1, last]
    const asks = pages.map((page): Ask => ({ name, ask: () => ask(`size=${size}&page=${page}`) }))
    const times = await interleaved(asks, { calls: CALLS, clients: 1 })
    rows.push([
      store,
      name,
      whole(data.total),
      whole(size),
      ...times.map(({ p50 }) => fixed(p50, 2)),
      ...times.slice(1).map(({ p50 }) => fixed(ratio(p50, times[0]?.p50))),
    ])
  }
  return rows
}

const HEADING = [
  'store',
  'list',
  'rows',
  'a page',
  'first page, p50 ms',
  'middle',
  'last',
  'middle ÷ first',
  'last ÷ first',
] as const

export const depthTable = (rows: readonly (readonly string[])[]): string => table(HEADING, rows)
