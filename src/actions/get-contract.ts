import { Type } from '@sinclair/typebox'
import { CONTRACT_AT, parseDeployedContract } from '#chain/contract-code.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { parseChainArguments } from '#chain/effects.ts'
import { toIso } from '#chain/time.ts'
import { listOf, lists, transactionId } from '#indices/list.ts'
import { transactions } from '#indices/transaction.ts'
import { missingData } from '#store/failures.ts'
import type { View } from '#store/port.ts'
import { defineAction } from './define.ts'
import { listRecords, type NumberedRecord } from './find/numbered.ts'
import { requireContract, requireNamed, resolveFilters } from './find/owner.ts'
import { buildWholeList, defineList } from './list/paging.ts'
import { contractPlan, isSearched, plannedRecords } from './list/record-plan.ts'
import { actionName, contract, paging, sort } from './request/parameter-types.ts'
import { checkRange, headOptions, range } from './request/range.ts'
import {
  checkContractFilters,
  checkRecordRange,
  counterparty,
  direction,
  failedOnly,
  splitFilters,
  textFilters,
  tokens,
} from './request/record-filters.ts'
import { recordLists } from './shape/records.ts'
import {
  count,
  defineCreatedTime,
  defineRows,
  listOfRows,
  numberedLists,
  seq,
  shape,
  text,
  txHash,
} from './shape/results.ts'

/** Calls of a contract, and token movements that it recorded. */
export const getContractTx = defineList({
  module: 'contract',
  action: 'get-contract-tx',
  title: { en: 'Contract transactions', zh: '合约交易记录' },
  summary: {
    en: 'Actions of a contract, including failed ones, and token movements recorded by it, newest first; sort=asc returns the exact reverse. With action_name, only rows of that action are returned; with other filters, rows are searched for as described in get-account-tx.',
    zh: '合约的方法调用（包括失败的）以及合约记录的代币变动，最新的在前；sort=asc 时顺序完全相反。指定 action_name 时只返回该方法的记录；使用其他筛选条件时记录需要逐条查找，见 get-account-tx 的说明。',
  },
  params: Type.Object({
    contract: contract(),
    action_name: actionName(),
    direction: direction({
      en: 'Only for the contract token.iost, together with counterparty: rows that moved a token from the counterparty (in) or to it (out).',
      zh: '仅与 counterparty 一起用于 token.iost：从对方转出（in）或转入对方（out）代币的记录。',
    }),
    counterparty: counterparty({
      en: 'Return only rows with this party: an account, a contract id, a public key that owns tokens, or 0.',
      zh: '只返回有此账户参与的记录；也可以是合约 ID、持有代币的公钥或 0。',
    }),
    token: tokens({
      en: 'For the contract token.iost: return only rows that moved one of these tokens; up to 50, joined by commas.',
      zh: '用于 token.iost：只返回这些代币变动的记录；最多 50 个，以英文逗号分隔。',
    }),
    failed: failedOnly(),
    ...textFilters,
    ...paging,
    sort: sort(),
    ...range,
    ...headOptions,
  }),
  check: params => {
    const { filters } = splitFilters(params)
    checkContractFilters(params.contract, filters)
    checkRecordRange(params, isSearched(contractPlan(params.contract, params.action_name, filters)))
  },
  ...recordLists('always'),
  list: 'transactions',
  source: {
    state: [],
    isFeed: true,
    isSearched: ({ contract: id, action_name, ...params }) =>
      isSearched(contractPlan(id, action_name, splitFilters(params).filters)),
    open: async (context, { contract: id, action_name, ...params }) => {
      await requireContract(context, id)
      const { filters, asked } = splitFilters(params)
      const plan = contractPlan(id, action_name, await resolveFilters(context, filters))
      return plannedRecords(context, plan, { ...asked, contract: 'always' })
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading', 'replaced'],
  example: { contract: 'token.iost', action_name: 'transfer', page: '1', size: '5' },
})

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
    const found = await requireNamed(context, 'contract', id)
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

const limit = shape({
  token: text('Token name; * means all tokens.', '代币名称，* 表示全部。'),
  value: text('Maximum amount the action may spend, or unlimited.', '允许动用的最大数量，或 unlimited。'),
})
const row = shape({
  name: text('Name of the action.', '方法名。'),
  args: defineRows(
    Type.String(),
    'Argument types: string, number, bool, json.',
    '参数类型：string、number、bool、json。',
  ),
  amount_limit: defineRows(
    limit,
    "Maximum amounts of the caller's tokens that the action may spend.",
    '该方法可动用的调用者代币上限。',
  ),
})

export const getContractAbi = defineAction({
  module: 'contract',
  action: 'get-contract-abi',
  title: { en: 'Contract ABI', zh: '合约 ABI' },
  summary: {
    en: 'The actions a contract currently offers, in the order of its ABI. The list is always complete.',
    zh: '合约当前提供的方法（以最近一次更新为准），按 ABI 中的顺序排列。始终返回完整列表。',
  },
  params: Type.Object({ contract: contract() }),
  result: listOfRows('abis', row, { en: 'Actions.', zh: '方法列表。' }),
  list: 'abis',
  run: async (context, { contract: id }) => {
    const found = await requireNamed(context, 'contract', id)
    return buildWholeList(
      'abis',
      found.abis.map(({ name, args, amount_limit }) => ({ name, args, amount_limit })),
    )
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { contract: 'token.iost' },
})

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
  run: async (context, { contract: id }) => {
    const { contract: contract_id, language, version, code_at } = await requireNamed(context, 'contract', id)
    const code = code_at === undefined ? NOWHERE : await readDeployedCode(context.view, code_at)
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
  const value = parseChainArguments(data)?.[at]
  return typeof value === 'string' ? value : ''
}

const listedContractFields = {
  seq: seq(),
  contract_id: text('Contract id.', '合约 ID。'),
  publisher: text('Account that deployed the contract.', '部署该合约的账户。'),
  created_at: defineCreatedTime(),
  tx_hash: txHash(),
  records: count(
    'Number of records of the contract: the total of get-contract-tx.',
    '该合约的记录数，即 get-contract-tx 的 total。',
  ),
}

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
  ...numberedLists('contracts', listedContractFields, { en: 'Contracts of this page.', zh: '合约列表。' }),
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
