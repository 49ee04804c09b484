import { Type } from '@sinclair/typebox'
import { argumentsAsRead } from '#chain/arguments.ts'
import { CONTRACT_AT, parseDeployedContract } from '#chain/contract-code.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { contracts } from '#indices/contract.ts'
import { transactionId } from '#indices/position.ts'
import { transactions } from '#indices/transaction.ts'
import { missingData } from '#store/missing-data.ts'
import type { View } from '#store/port.ts'
import { defineAction } from './define.ts'
import { unknown } from './find/unknown.ts'
import { contract } from './request/parameter-types.ts'
import { shape, text } from './shape/results.ts'

/** The code of a contract. */
export const getContractCode = defineAction({
  module: 'contract',
  action: 'get-contract-code',
  title: { en: 'Contract code', zh: '合约代码' },
  summary: {
    en: 'Source code of a contract at the last published irreversible block, and the transaction that set it by deploying or updating the contract. code, block and tx_hash are empty if the chain does not contain the code, as for native contracts.',
    zh: '合约在最新已发布的不可逆区块处的源代码，以及部署该代码（或将合约更新为该代码）的交易。链上不含其代码时（例如 native 合约），code、block 与 tx_hash 为空。',
  },
  params: Type.Object({ contract: contract() }),
  result: shape({
    contract_id: text('Contract id.', '合约 ID。'),
    language: text('Language: javascript or native.', '语言：javascript 或 native。'),
    version: text('Version that the publisher gave the code.', '发布者为代码标注的版本。'),
    code: text('Source code.', '源代码。'),
    block: text('Block number (height) of the transaction.', '该交易所在的区块高度。'),
    tx_hash: text('Transaction that deployed or updated the code.', '部署或更新该代码的交易哈希。'),
  }),
  run: async ({ view, ...context }, { contract: id }) => {
    const found = await view.get(contracts, id)
    if (found === undefined) throw unknown({ view, ...context }, 'contract', id)
    const { contract: contract_id, language, version, code_at } = found
    const code = code_at === undefined ? NOWHERE : await readDeployedCode(view, code_at)
    return { contract_id, language, version, ...code }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { contract: 'Contractjnq6aRFWX1qhc1pSFFAN3ZdG7zb4kQvWGMWzxKjozKJ' },
})

const NOWHERE = { code: '', block: '', tx_hash: '' }

async function readDeployedCode(view: View, [height, tx, position]: readonly [number, number, number]) {
  const doc = await view.get(transactions, transactionId(height, tx))
  const action = doc && decodeTransaction(doc.body).actions[position]
  const at = CONTRACT_AT.get(action?.actionName ?? '')
  const deployed = at === undefined ? undefined : parseDeployedContract(getCodeArgument(action?.data ?? '', at))
  if (doc === undefined || deployed === undefined)
    throw missingData(`There is no code in action ${position} of transaction ${tx} of block ${height}.`)
  return { code: deployed.code, block: String(height), tx_hash: doc.hash }
}

function getCodeArgument(data: string, at: number): string {
  const value = argumentsAsRead(data)?.[at]
  return typeof value === 'string' ? value : ''
}
