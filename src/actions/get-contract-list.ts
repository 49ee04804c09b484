import { type TProperties, Type } from '@sinclair/typebox'
import { toIso } from '#chain/time.ts'
import { listOf, lists } from '#indices/list.ts'
import { listRecords, type NumberedRecord } from './list/numbered.ts'
import { defineList } from './list/paging.ts'
import { paging, sort } from './request/parameter-types.ts'
import { checkRange, range } from './request/range.ts'
import { count, defineCreatedTime, listOfRows, seq, shape, text, txHash } from './shape/results.ts'

const fields = {
  contract_id: text('Contract id.', '合约 ID。'),
  publisher: text('Account that deployed the contract.', '部署该合约的账户。'),
  created_at: defineCreatedTime(),
  tx_hash: txHash(),
  records: count(
    'Number of records of the contract: the total of get-contract-tx.',
    '该合约的记录数，即 get-contract-tx 的 total。',
  ),
}
const defineListResult = <P extends TProperties>(row: P) =>
  listOfRows('contracts', shape(row), { en: 'Contracts of this page.', zh: '合约列表。' })

/** Every contract that was deployed. */
export const getContractList = defineList({
  module: 'base',
  action: 'get-contract-list',
  title: { en: 'Contracts', zh: '合约列表' },
  summary: {
    en: 'All deployed contracts, newest first; sort=asc returns the exact reverse. Contracts of the genesis block are included, except system.iost, which is part of the node and was never deployed. Ranges are by deployment.',
    zh: '全部已部署的合约，最新的在前；sort=asc 时顺序完全相反。包括创世区块中的合约，但不包括 system.iost：它是全节点程序的一部分，从未部署。区间按部署时间计。',
  },
  params: Type.Object({ ...paging, sort: sort(), ...range }),
  check: checkRange,
  result: defineListResult({ seq: seq(), ...fields }),
  compatResult: defineListResult(fields),
  list: 'contracts',
  source: {
    // For the number of records of each contract.
    state: [lists],
    open: async (context, asked) => {
      const { compat } = context
      const found = await listRecords(context, listOf.contracts, asked)
      return {
        ...found,
        rows: async (view, docs: readonly NumberedRecord[]) => {
          const ids = docs.map(({ doc }) => doc.deployed ?? '')
          const own = await view.getMany(lists, ids.map(listOf.contract))
          const rows = docs.map(({ seq: number, doc }, at) => ({
            ...(compat === 'iostabc' ? {} : { seq: number }),
            contract_id: ids[at],
            publisher: doc.from,
            created_at: toIso(doc.time),
            tx_hash: doc.tx_hash,
            records: own[at]?.count ?? 0,
          }))
          return { rows }
        },
      }
    },
  },
  isOfStore: true,
  fails: ['loading'],
  example: { page: '1', size: '5' },
})
