import { recordsOf } from '#actions/list/numbered.ts'
import { hash8 } from '#chain/hash.ts'
import { balances } from '#indices/balance.ts'
import { listOf } from '#indices/list.ts'
import { transactions } from '#indices/transaction.ts'
import type { View } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { systemClock } from '#time/clock.ts'
import { type Bench, sqlitePath } from './bench.ts'
import { CONTRACT, HUB, hashOfRow } from './filled-chain.ts'
import { SIZE } from './floors.ts'
import { scattered, TOKEN } from './holders.ts'
import { type Ask, fixed, interleaved, table, whole } from './measure.ts'
import { lastPage } from './pages.ts'

/** What the embedded store takes by itself, without HTTP: each call is a read of its own. */
export const inProcessSection = async (bench: Bench): Promise<string> => {
  const store = openSqlite({ path: sqlitePath(bench), readonly: true })
  const ask = (name: string, work: (view: View, n: number) => Promise<unknown>): Ask => ({
    name,
    ask: n => store.read(view => work(view, n)),
  })
  const lists = [
    { name: HUB, key: listOf.account(HUB), last: lastPage(bench.rows / 4) },
    { name: CONTRACT, key: listOf.contract(CONTRACT), last: lastPage(bench.rows) },
  ]
  const pages = lists.flatMap(({ name, key, last }) => {
    const page = async (view: View, number: number) => {
      const { total, docs } = await recordsOf({ view, node: undefined, clock: systemClock }, key, {
        sort: 'desc',
      })
      const offset = (number - 1) * SIZE
      return docs(view, offset, Math.min(SIZE, total - offset))
    }
    return [
      ask(`${name}, first page`, view => page(view, 1)),
      ask(`${name}, middle pages`, (view, n) => page(view, (last >> 1) + (n % (last >> 2)))),
      ask(`${name}, last pages`, (view, n) => page(view, last - (n % (last >> 2)))),
      ask(`${name}, random pages`, (view, n) => page(view, 1 + scattered(n, last))),
    ]
  })
  const total = bench.holders
  const holders = (view: View, number: number) =>
    view.page(balances, 'holders', { group: TOKEN, offset: (number - 1) * SIZE, limit: SIZE })
  const asks: readonly Ask[] = [
    ...pages,
    ask('holders, first page', view => holders(view, 1)),
    ask('holders, random pages', (view, n) => holders(view, 1 + scattered(n, lastPage(total)))),
    ask('transaction by hash', (view, n) =>
      view.find(transactions, 'hash8', hash8(hashOfRow(scattered(n, bench.rows)))),
    ),
  ]
  const times = await interleaved(asks, { calls: bench.calls, clients: 1 })
  await store.close()
  bench.judge({
    promise: 'SQLite, pages inside the process: slowest p50',
    most: 0.3,
    unit: 'ms',
    measured: Math.max(...times.map(({ p50 }) => p50)),
  })
  return table(
    ['page of 20 in the process', 'p50 ms', 'p99 ms', '/s'],
    times.map(({ p50, p99, perSecond }, at) => [
      asks[at]?.name ?? '',
      fixed(p50, 3),
      fixed(p99, 3),
      whole(perSecond),
    ]),
  )
}
