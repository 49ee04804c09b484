import { beforeAll, expect, test } from 'bun:test'
import type { Block } from '#chain/block.ts'
import { toIso } from '#chain/time.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainChain } from '#test/support/oracle/plain-records.ts'
import { plainTransactions } from '#test/support/oracle/plain-transactions.ts'
import type { Service } from '#test/support/processes/service.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { allRows, type Data, dataOf, field, rowsOf } from './answers.ts'
import { chooser, type Placed, type RangeEffort } from './ranges.ts'

type Row = Placed & { readonly shown: ReadonlyMap<string, Data> }
type ChainList = { readonly action: string; readonly list: string; readonly rows: readonly Row[] }

const shownOf = (fields: object): ReadonlyMap<string, Data> =>
  new Map(Object.entries(fields).map(([name, value]) => [name, String(value)]))

const transactionsIn = (blocks: readonly Block[]): readonly Row[] =>
  plainTransactions(blocks).map(({ height, time, ...fields }, at) => ({
    height,
    time,
    shown: shownOf({ seq: at + 1, ...fields }),
  }))

const contractsIn = (blocks: readonly Block[]): readonly Row[] => {
  const { lists } = plainChain(blocks)
  return (lists.get('contracts') ?? []).map((row, at) => ({
    height: row.height,
    time: row.time,
    shown: shownOf({
      seq: at + 1,
      contract_id: row.deployed,
      publisher: row.publisher,
      created_at: toIso(row.time),
      tx_hash: row.hash,
      records: lists.get(`contract/${row.deployed}`)?.length ?? 0,
    }),
  }))
}

/** The transactions and the contracts of the whole chain against what the blocks say plainly. */
export const chainListSuite = (service: () => Service, { ofBusiest }: RangeEffort): void => {
  const seed = seedOf(43)
  const random = seeded(seed)
  let lists: readonly ChainList[]
  beforeAll(async () => {
    const blocks = (await recordedBlocks()).map(({ block }) => block)
    lists = [
      { action: 'transaction-list', list: 'transactions', rows: transactionsIn(blocks) },
      { action: 'contract-list', list: 'contracts', rows: contractsIn(blocks) },
    ]
  })

  const inOrder = (rows: readonly Row[], sort: string) =>
    (sort === 'asc' ? rows : rows.toReversed()).map(({ shown }) => shown)

  test('transactions and contracts of the whole chain, in both orders', async () => {
    for (const { action, list, rows } of lists)
      for (const sort of ['asc', 'desc'])
        expect(await allRows(service(), action, list, { sort }, 500)).toEqual(inOrder(rows, sort))
    const total = field(await dataOf(service(), 'overview'), 'contract_count')
    expect(lists.map(({ rows }) => rows.length)).toEqual([57_738, Number(total)])
  })

  test('their pages of every size: first, last, beyond the last and some between', async () => {
    for (const { action, list, rows } of lists)
      for (const sort of ['asc', 'desc'])
        for (const size of [1, 7, 20, 256]) {
          const expected = inOrder(rows, sort)
          const last = Math.ceil(rows.length / size)
          for (const page of new Set([1, 2, Math.ceil(last / 3), Math.ceil(last / 2), last, last + 1])) {
            const data = await dataOf(service(), action, { sort, size, page })
            expect([field(data, 'total'), rowsOf(data, list)]).toEqual([
              String(rows.length),
              expected.slice((page - 1) * size, page * size),
            ])
          }
        }
  })

  test('their ranges are the plain lists filtered, on every page', async () => {
    for (const { action, list, rows } of lists) {
      const choose = chooser(rows, random)
      for (let n = 0; n < ofBusiest; n++) {
        const { params, within } = choose(rows)
        const sort = random() < 0.5 ? 'asc' : 'desc'
        const expected = inOrder(
          rows.filter((row, at) => within(row, at + 1)),
          sort,
        )
        const size = 1 + Math.floor(random() ** 2 * 60)
        const last = Math.max(Math.ceil(expected.length / size), 1)
        for (const page of new Set([1, 1 + Math.floor(random() * last), last, last + 1])) {
          const query = { ...params, sort, page, size }
          const data = await dataOf(service(), action, query)
          expect([seed, query, field(data, 'total'), rowsOf(data, list)]).toEqual([
            seed,
            query,
            String(expected.length),
            expected.slice((page - 1) * size, page * size),
          ])
        }
      }
    }
  })
}
