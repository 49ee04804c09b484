import { Type } from '@sinclair/typebox'
import { toIso } from '#chain/time.ts'
import { contracts } from '#indices/contract.ts'
import { defineAction } from './define.ts'
import { unknown } from './find/unknown.ts'
import { contract } from './request/parameter-types.ts'
import { defineCreatedTime, shape, text, txHash } from './shape/results.ts'

/** Publisher and deployment of a contract. */
export const getContractDetail = defineAction({
  module: 'contract',
  action: 'get-contract-detail',
  title: { en: 'Contract', zh: '合约详情' },
  summary: {
    en: "Publisher, time and transaction of a contract's deployment. Genesis contracts have the publisher, time and transaction of block 0.",
    zh: '合约的部署者、部署时间与部署交易。创世合约的部署者、时间与交易取自区块 0。',
  },
  params: Type.Object({ contract: contract() }),
  result: shape({
    contract_id: text('Contract id.', '合约 ID。'),
    publisher: text('Account that deployed the contract.', '部署该合约的账户。'),
    created_at: defineCreatedTime(),
    tx_hash: txHash(),
  }),
  run: async (context, { contract: id }) => {
    const found = await context.view.get(contracts, id)
    if (found === undefined) throw unknown(context, 'contract', id)
    return {
      contract_id: found.contract,
      publisher: found.publisher,
      created_at: toIso(found.time),
      tx_hash: found.tx_hash,
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { contract: 'token.iost' },
})
