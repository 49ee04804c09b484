import { type TArray, type TUnknown, Type } from '@sinclair/typebox'
import type { Compat } from '../define.ts'
import { headFields } from './head-status.ts'
import {
  count,
  defineCreatedTime,
  defineRows,
  described,
  irreversibleSeq,
  listOfFound,
  listOfRows,
  SEARCHED_ONLY,
  shape,
  text,
  txHash,
} from './results.ts'

/** Our own programs read rows without `compat`, so the type is the array. */
const data = (compat: Compat) =>
  described(
    (compat === 'iostabc' ? Type.String() : Type.Array(Type.Unknown())) as TArray<TUnknown>,
    'Arguments of the action, or content of the receipt of the movement, as an array. A text that is not a JSON array becomes an array of that one text. With compat=iostabc, the original text of the chain.',
    '方法参数或代币变动收据的内容，以数组表示；不是 JSON 数组的文本表示为只含该文本的数组。compat=iostabc 时为链上原文。',
  )

/** Fields of every row of a record. */
const recordFields = (compat: Compat) => ({
  action_name: text('Action name.', '方法名。'),
  data: data(compat),
  block: text('Block number (height).', '区块高度。'),
  tx_hash: txHash(),
  from: text('Sender or caller.', '转出方或调用方。'),
  to: text('Recipient or contract.', '转入方或被调用合约。'),
  created_at: defineCreatedTime(),
  index: count(
    'Position of the row in its transaction, starting at 0: first the actions, then other movements.',
    '在交易中的序号，从 0 开始：先是方法，然后是其他代币变动。',
  ),
  return: text('Return value of the action; empty for other movements.', '方法的返回值；其他代币变动为空。'),
  status_code: text('SUCCESS, or the reason why the transaction failed.', 'SUCCESS，或交易失败的原因。'),
  amount: Type.Optional(
    text(
      'On rows of token.iost movements, the amount actually moved, in token units. On calls of vote, unvote, pledge and unpledge that were carried out, the amount of IOST, and of buy and sell of ram.iost the bytes; the movements of these calls are rows of their own, so sums are taken over rows that have a token.',
      'token.iost 的变动记录中为实际变动的数量（代币单位）。已执行的 vote、unvote、pledge、unpledge 调用中为 IOST 数量，ram.iost 的 buy、sell 中为字节数；这些调用引起的代币变动另有记录，因此求和时只计算带有 token 的记录。',
    ),
  ),
  ...(compat === 'iostabc' ? {} : { ...movementFields(), ...nftFields() }),
})

/** Fields of rows that moved a token. */
const movementFields = () => ({
  token: Type.Optional(
    text(
      'Token that the row moved; only on rows of token.iost movements.',
      '该记录所变动的代币；仅出现在 token.iost 的变动记录中。',
    ),
  ),
  memo: Type.Optional(
    text(
      'Memo of the movement, which may be empty; only on rows of transfer and transferFreeze that moved a token.',
      '转账备注，可能为空；仅出现在 transfer 与 transferFreeze 的代币变动记录中。',
    ),
  ),
  locked_until: Type.Optional(
    text(
      'Time when a frozen amount becomes available, nanoseconds since 1970 as the sender wrote it; only on rows of transferFreeze that moved a token. Until then the recipient cannot spend it.',
      '冻结金额的解冻时间，自 1970 年起的纳秒数，与转出方所写一致；仅出现在 transferFreeze 的代币变动记录中。在此之前转入方无法使用该金额。',
    ),
  ),
})

/** Fields of rows that moved an NFT. */
const nftFields = () => ({
  collection: Type.Optional(
    text(
      'Collection of the NFT that the row moved or issued; only on rows of transfer and issue of token721.iost that were carried out.',
      '该记录所转移或发行的 NFT 的集合；仅出现在已执行的 token721.iost 的 transfer 与 issue 记录中。',
    ),
  ),
  token_id: Type.Optional(text('Id of that NFT in its collection.', '该 NFT 在集合中的编号。')),
})

const contractField = () => text('Contract.', '合约。')

/**
 * A row of get-account-tx, get-contract-tx and get-token-tx. `contract`: whether the contract is included
 * always, or only with `compat=iostabc`.
 */
function recordRow(contract: 'always' | 'compat', compat: Compat) {
  const named = contract === 'always' || compat === 'iostabc' ? { contract: contractField() } : {}
  return shape({
    ...(compat === 'iostabc' ? {} : { seq: irreversibleSeq() }),
    ...headFields(),
    id: idOfRow(),
    ...(contract === 'compat' ? { accounts: accountsField() } : {}),
    ...named,
    ...recordFields(compat),
  })
}

const idOfRow = () =>
  Type.Optional({
    ...text(
      'Only with head=1, or where rows are searched for: names the row and its block, before the block is irreversible and after. A row of another block in its place has another id.',
      '仅在 head=1 或逐条查找时出现：标识该行及其所在区块，在区块变为不可逆前后保持不变。取代它的其他区块中的记录有不同的 id。',
    ),
    [SEARCHED_ONLY]: true,
  })

const accountsField = () =>
  Type.Optional({
    ...defineRows(
      Type.String(),
      'Only for several accounts: those of them that the row belongs to.',
      '仅在查询多个账户时出现：该记录所属的账户。',
    ),
    [SEARCHED_ONLY]: true,
  })

/** Schemas of the answers of an action that lists records, without and with `compat=iostabc`. */
export function recordLists(contract: 'always' | 'compat') {
  const listFor = (compat: Compat) =>
    listOfFound('transactions', recordRow(contract, compat), {
      en: 'Records of this page.',
      zh: '记录列表。',
    })
  return { result: listFor('none'), compatResult: listFor('iostabc') }
}

/** Schemas of the answers of get-transaction-records. */
export function transactionRecords() {
  const listFor = (compat: Compat) =>
    listOfRows(
      'records',
      shape({
        status: text(
          'PACKED while the block of the transaction may still be replaced, otherwise IRREVERSIBLE.',
          '交易所在区块仍可能被替换时为 PACKED，否则为 IRREVERSIBLE。',
        ),
        contract: contractField(),
        ...recordFields(compat),
      }),
      { en: 'Records.', zh: '记录列表。' },
    )
  return { result: listFor('none'), compatResult: listFor('iostabc') }
}
