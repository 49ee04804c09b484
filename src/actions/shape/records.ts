import { type TArray, type TUnknown, Type } from '@sinclair/typebox'
import { RawJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import type { HeadAt } from '#head/head-state.ts'
import type { ListedRecord } from '#indices/record.ts'
import type { View } from '#store/port.ts'
import type { Booking, BookingsOf } from '../books/open-book.ts'
import type { Compat } from '../define.ts'
import { readNumberedRowIds, readRowIds } from '../find/blocks-at.ts'
import type { Listing, Rows } from '../find/listing.ts'
import type { Merged } from '../find/merge.ts'
import { createBodyReader, type NumberedRecord } from '../find/numbered.ts'
import {
  type Bodies,
  extractParties,
  extractRowFacts,
  findStakeRows,
  type RowFacts,
  type RowTexts,
  readBodies,
  readRowTexts,
} from '../find/record-texts.ts'
import { rowIdText } from '../request/row-id.ts'
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
import { headFields, toRowStatus } from './values.ts'

/** The form of a list of records. */
export const shownRecords = ({ head, ...form }: Shown): Pick<Listing<NumberedRecord>, 'rows' | 'isLong'> => ({
  rows: async (view, numbered) => {
    const docs = numbered.map(({ doc }) => doc)
    const ids = head === undefined ? [] : await readNumberedRowIds(view, numbered, ({ id }) => id)
    return writeRecords(docs, { ...form, bodiesOf: createBodyReader(view, numbered) }, at => {
      const { seq, above } = numbered[at] ?? {}
      return {
        seq: form.compat === 'iostabc' || above !== undefined ? undefined : seq,
        id: ids[at],
        status: head === undefined ? undefined : toRowStatus(above),
      }
    })
  },
  isLong: ({ doc }) => doc.overflow,
})

/** The form that an action gives to its rows. */
export type RecordForm = {
  /** Whether every row includes its contract, or only with `compat=iostabc`. */
  readonly contract: 'always' | 'compat'
  /** Whether the rows become bookings, which need to know about stakes. */
  readonly isBook?: boolean | undefined
}

type Shown = RecordForm & {
  readonly compat: Compat
  /** The head blocks, if requested; each row then has a status. */
  readonly head?: HeadAt | undefined
}

/** Rows found by a search. They have an id instead of a number in a list. `owners`: the owner of each list. */
export async function writeFoundRecords(
  view: View,
  found: readonly Merged[],
  { owners, ...form }: Omit<Shown, 'head'> & { readonly owners: readonly string[] | undefined },
): Promise<Rows> {
  const docs = found.map(({ doc }) => doc)
  const positions = form.compat === 'iostabc' ? [] : docs.map(({ id }) => id)
  const ids = (await readRowIds(view, positions)).map(rowIdText)
  return writeRecords(docs, { ...form, bodiesOf: each => readBodies(view, each) }, at => ({
    id: ids[at],
    accounts: owners && [...new Set(found[at]?.runs.map(run => owners[run] ?? ''))],
  }))
}

/** The fields before those of all rows; undefined: the row does not have the field. */
type Lead = {
  readonly seq?: number | undefined
  readonly id?: string | undefined
  readonly status?: string | undefined
  /** The requested accounts that the row belongs to. */
  readonly accounts?: readonly string[] | undefined
}

/** Rows of records with their texts; `bodiesOf` reads the transactions of those that do not hold them. */
async function writeRecords(
  docs: readonly ListedRecord[],
  { isBook, bodiesOf, ...form }: Omit<Shown, 'head'> & { readonly bodiesOf: Bodies },
  leadOf: (at: number) => Lead,
): Promise<Rows> {
  const texts = await readRowTexts(bodiesOf, docs)
  const stakes = isBook === true ? await findStakeRows(bodiesOf, docs) : undefined
  return writeRecordRows(docs, { ...form, texts, stakes }, leadOf)
}

type WrittenForm = Pick<Shown, 'contract' | 'compat'> & {
  /** The texts of records that do not hold them, by id (`readRowTexts`). */
  readonly texts: ReadonlyMap<string, RowTexts>
  /** The ids of the rows that are stakes; only for rows that become bookings. */
  readonly stakes?: ReadonlySet<string> | undefined
}

export function writeRecordRows(
  docs: readonly ListedRecord[],
  { contract, compat, texts, stakes }: WrittenForm,
  leadOf: (at: number) => Lead,
): Rows {
  const isOld = compat === 'iostabc'
  const data: (RawJson | string)[] = []
  // Neighbours often share a time.
  let last: { readonly time: bigint; readonly iso: string } | undefined
  const rows = docs.map((doc, at) => {
    const own = texts.get(doc.id) ?? doc
    data.push(isOld ? own.data : new RawJson(PLAIN.test(own.data) ? own.data : arrayText(own.data)))
    if (last?.time !== doc.time) last = { time: doc.time, iso: toIso(doc.time) }
    const { seq, id, status, accounts } = leadOf(at)
    const facts: RowFacts = isOld ? { amount: doc.amount } : extractRowFacts(doc, own)
    const { amount, token, memo, locked_until, collection, token_id } = facts
    return {
      seq,
      id,
      status,
      accounts,
      contract: isOld || contract === 'always' ? own.contract : undefined,
      action_name: own.action_name,
      data: '',
      block: String(doc.height),
      tx_hash: doc.tx_hash,
      from: doc.from,
      to: doc.to,
      created_at: last.iso,
      index: doc.index,
      return: own.return,
      status_code: doc.status_code,
      amount,
      token,
      memo,
      locked_until,
      collection,
      token_id,
      isStake: stakes?.has(doc.id) === true ? true : undefined,
    }
  })
  return { rows, data }
}

/**
 * An array of strings without escapes and of whole numbers, like nearly all. The match takes half the time of
 * JSON.parse.
 */
const PLAIN = /^\[(?:"[ !#-[\]-\uffff]*"|0|[1-9]\d*)(?:,(?:"[ !#-[\]-\uffff]*"|0|[1-9]\d*))*\]$/

/** The chain's text as an array: inserted unchanged, so that every number keeps its digits. */
function arrayText(text: string): string {
  try {
    if (Array.isArray(JSON.parse(text))) return text
  } catch {
    // Any text is legal here (system.iost/receipt): it becomes the only element of an array.
  }
  return `[${JSON.stringify(text)}]`
}

/** Fields of every row of a record. */
const recordFields = (compat: Compat) => ({
  action_name: text('Action name.', '方法名。'),
  // Our own programs read rows without `compat`, so the type is the array.
  data: described(
    (compat === 'iostabc' ? Type.String() : Type.Array(Type.Unknown())) as TArray<TUnknown>,
    'Arguments of the action, or content of the receipt of the movement, as an array. A text that is not a JSON array becomes an array of that one text. With compat=iostabc, the original text of the chain.',
    '方法参数或代币变动收据的内容，以数组表示；不是 JSON 数组的文本表示为只含该文本的数组。compat=iostabc 时为链上原文。',
  ),
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
  ...(compat === 'iostabc'
    ? {}
    : {
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
        collection: Type.Optional(
          text(
            'Collection of the NFT that the row moved or issued; only on rows of transfer and issue of token721.iost that were carried out.',
            '该记录所转移或发行的 NFT 的集合；仅出现在已执行的 token721.iost 的 transfer 与 issue 记录中。',
          ),
        ),
        token_id: Type.Optional(text('Id of that NFT in its collection.', '该 NFT 在集合中的编号。')),
      }),
})

const contractField = () => text('Contract.', '合约。')

/** A row of a list of records. */
function recordRow(contract: RecordForm['contract'], compat: Compat) {
  const named = contract === 'always' || compat === 'iostabc' ? { contract: contractField() } : {}
  return shape({
    ...(compat === 'iostabc' ? {} : { seq: irreversibleSeq() }),
    ...headFields(),
    id: defineRowId(),
    ...(contract === 'compat'
      ? {
          accounts: Type.Optional({
            ...defineRows(
              Type.String(),
              'Only for several accounts: those of them that the row belongs to.',
              '仅在查询多个账户时出现：该记录所属的账户。',
            ),
            [SEARCHED_ONLY]: true,
          }),
        }
      : {}),
    ...named,
    ...recordFields(compat),
  })
}

const defineRowId = () =>
  Type.Optional({
    ...text(
      'Only with head=1, or where rows are searched for: names the row and its block, before the block is irreversible and after. A row of another block in its place has another id.',
      '仅在 head=1 或逐条查找时出现：标识该行及其所在区块，在区块变为不可逆前后保持不变。取代它的其他区块中的记录有不同的 id。',
    ),
    [SEARCHED_ONLY]: true,
  })

/** Schemas of the answers of an action that lists records, without and with `compat=iostabc`. */
export function recordLists(contract: RecordForm['contract']) {
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

/** The fields of a row of records from which bookings are made; `data` is passed separately. */
type Row = {
  readonly created_at: string
  readonly action_name: string
  readonly tx_hash: string
  readonly amount?: string | undefined
  readonly token?: string | undefined
  readonly memo?: string | undefined
  readonly isStake?: boolean | undefined
}

/** Converts rows of records to the bookings of an account. A transfer to itself is not a booking. */
export const createRecordBookings =
  (account: string): BookingsOf =>
  ({ rows, data = [] }) =>
    (rows as readonly Row[]).flatMap((row, at) => {
      const own = data[at]
      return toBooking(row, own instanceof RawJson ? own.text : (own ?? ''), account) ?? []
    })

/** The booking of a row; undefined: the row did not change the account's amounts. */
function toBooking(row: Row, data: string, account: string): Booking | undefined {
  const { created_at, action_name, tx_hash, amount, token, memo, isStake = false } = row
  // The amount of a vote or a pledge is moved by a separate row, which names the token.
  if (amount === undefined || token === undefined) return undefined
  const { from, to } = extractParties({ action_name, data })
  if (from === to || (from !== account && to !== account)) return undefined
  const other = from === account ? to : from
  return {
    time: created_at,
    token,
    action: action_name,
    tx_hash,
    memo: memo ?? null,
    isStake,
    change: from === account ? `-${amount}` : amount,
    counterparty: other === '' ? null : other,
  }
}
