import { beforeAll, expect, test } from 'bun:test'
import { toIso } from '#chain/time.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainLists } from '#test/support/oracle/plain-lists.ts'
import { plainTransactions } from '#test/support/oracle/plain-transactions.ts'
import type { Service } from '#test/support/processes/service.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { dataOf, field, requirePage } from './answers.ts'
import { chooser, type Placed, type RangeEffort } from './ranges.ts'

type Row = Placed & { readonly text: string }
type ChainList = { readonly action: string; readonly list: string; readonly rows: readonly Row[] }

const transactionRows = async (): Promise<readonly Row[]> =>
  plainTransactions((await recordedBlocks()).map(({ block }) => block)).map(
    ({ height, time, tx_hash, block, gas_fee, ...fields }, at) => {
      const text = JSON.stringify({ seq: at + 1, tx_hash, block: String(block), ...fields })
      // A number with up to two decimals, compared as it is written.
      return { height, time, text: `${text.slice(0, -1)},"gas_fee":${gas_fee}}` }
    },
  )

async function contractRows(): Promise<readonly Row[]> {
  const lists = await plainLists()
  return (lists.get('contracts') ?? []).map(({ height, time, deployed, publisher, hash }, at) => ({
    height,
    time,
    text: JSON.stringify({
      seq: at + 1,
      contract_id: deployed,
      publisher,
      created_at: toIso(time),
      tx_hash: hash,
      records: lists.get(`contract/${deployed}`)?.length ?? 0,
    }),
  }))
}

/**
 * The transactions and contracts of the whole chain, compared with rows computed plainly from the blocks.
 * `isWhole`: every page of the largest size is read.
 */
export function chainListSuite(
  service: () => Service,
  { ofBusiest, isWhole }: RangeEffort & { isWhole: boolean },
): void {
  const random = seeded(seedOf(43))
  let lists: readonly ChainList[]
  beforeAll(async () => {
    lists = [
      { action: 'transaction-list', list: 'transactions', rows: await transactionRows() },
      { action: 'contract-list', list: 'contracts', rows: await contractRows() },
    ]
  })

  const inOrder = (rows: readonly Row[], sort: string) =>
    (sort === 'asc' ? rows : rows.toReversed()).map(({ text }) => text)

  test('transactions and contracts of the whole chain match the blocks, in both orders, in pages of every size', async () => {
    for (const { action, list, rows } of lists)
      for (const sort of ['asc', 'desc']) {
        const expected = inOrder(rows, sort)
        const query = { action, list, params: { sort } }
        for (const size of [1, 7, 20, 256, 500]) {
          const last = Math.ceil(rows.length / size)
          // The first page, the last, one beyond and some between.
          const some = [1, 2, Math.ceil(last / 3), Math.ceil(last / 2), last, last + 1]
          const pages = isWhole && size === 500 ? Array.from({ length: last }, (_, at) => at + 1) : new Set(some)
          for (const page of pages) await requirePage(service(), query, expected, { page, size })
        }
      }
    const total = field(await dataOf(service(), 'overview'), 'contract_count')
    expect(lists.map(({ rows }) => rows.length)).toEqual([57_738, Number(total)])
  })

  test('ranges of transactions and contracts match the plain lists filtered, on every page', async () => {
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
        const query = { action, list, params: { ...params, sort } }
        for (const page of new Set([1, 1 + Math.floor(random() * last), last, last + 1]))
          await requirePage(service(), query, expected, { page, size })
      }
    }
  })
}
