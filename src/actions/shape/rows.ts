import { type TArray, type TUnknown, Type } from '@sinclair/typebox'
import { RawJson } from '#chain/json.ts'
import { toIso } from '#chain/time.ts'
import type { HeadAt } from '#head/shown.ts'
import type { View } from '#store/port.ts'
import type { Compat } from '../define.ts'
import { textsOf } from '../find/overflow.ts'
import { bodiesWith } from '../list/above.ts'
import type { Listing } from '../list/listing.ts'
import type { NumberedRecord } from '../list/records.ts'
import type { Rows } from '../list/rows.ts'
import { headStatus, statusOf } from './head-status.ts'
import { count, createdAt, described, listOfRows, seqUnlessAbove, shape, text, txHash } from './results.ts'

/** Programs of ours read rows without `compat`, so their type is the array. */
const data = (compat: Compat) =>
  described(
    (compat === 'iostabc' ? Type.String() : Type.Array(Type.Unknown())) as TArray<TUnknown>,
    'Arguments of the action, or content of the receipt of the movement, as an array. A text that is not a JSON array becomes an array of that one text. With compat=iostabc, the original text of the chain.',
    '方法参数或代币变动收据的内容，以数组表示；不是 JSON 数组的文本表示为只含该文本的数组。compat=iostabc 时为链上原文。',
  )

/** A row of get-account-tx, get-contract-tx and get-token-tx; the contract is named always, or only with `compat=iostabc`. */
const recordRow = (contract: 'always' | 'compat', compat: Compat) => {
  const word = text('Contract.', '合约。')
  const named = contract === 'always' || compat === 'iostabc' ? { contract: word } : {}
  return shape({
    ...(compat === 'iostabc' ? {} : { seq: seqUnlessAbove() }),
    status: headStatus(),
    ...named,
    action_name: text('Action name.', '方法名。'),
    data: data(compat),
    block: text('Block number (height).', '区块高度。'),
    tx_hash: txHash(),
    from: text('Sender or caller.', '转出方或调用方。'),
    to: text('Recipient or contract.', '转入方或被调用合约。'),
    created_at: createdAt(),
    index: count(
      'Position of the row in its transaction, starting at 0: first the actions, then other movements.',
      '在交易中的序号，从 0 开始：先是方法，然后是其他代币变动。',
    ),
    return: text(
      'Return value of the action; empty for other movements.',
      '方法的返回值；其他代币变动为空。',
    ),
    status_code: text('SUCCESS, or the reason why the transaction failed.', 'SUCCESS，或交易失败的原因。'),
    amount: Type.Optional(
      text(
        'Amount actually moved, in token units; only on rows of token.iost movements.',
        '实际变动的数量（代币单位）；仅出现在 token.iost 的变动记录中。',
      ),
    ),
  })
}

/** The answers of an action that lists records, also with `compat=iostabc`. */
export const recordLists = (contract: 'always' | 'compat') => {
  const listFor = (compat: Compat) =>
    listOfRows('transactions', recordRow(contract, compat), { en: 'Records of this page.', zh: '记录列表。' })
  return { result: listFor('none'), compatResult: listFor('iostabc') }
}

/** Rows with the most text that are in memory at once: 130 KB each. */
const LONG_AT_ONCE = 64

/** How a list of records is shown; `contract` says whether every row names its contract. */
export const shownRecords = (shown: Shown): Pick<Listing<NumberedRecord>, 'rows' | 'parts'> => ({
  rows: (view, docs) => recordRows(view, docs, shown),
  parts: docs => {
    const first = docs.findIndex(({ doc }) => doc.overflow)
    return first < 0
      ? { ahead: docs, later: [] }
      : { ahead: docs.slice(0, first), later: inRuns(docs.slice(first)) }
  },
})

/** Rows in runs of which each has at most `LONG_AT_ONCE` long ones. */
const inRuns = (docs: readonly NumberedRecord[]): readonly (readonly NumberedRecord[])[] => {
  const runs: NumberedRecord[][] = [[]]
  let long = 0
  for (const row of docs) {
    long += row.doc.overflow ? 1 : 0
    if (long > LONG_AT_ONCE) {
      runs.push([])
      long = 1
    }
    runs.at(-1)?.push(row)
  }
  return runs
}

type Shown = {
  readonly contract: 'always' | 'compat'
  readonly compat: Compat
  /** The blocks above, where they are asked for; each row then has a status. */
  readonly head?: HeadAt | undefined
}

const recordRows = async (
  view: View,
  numbered: readonly NumberedRecord[],
  { contract, compat, head }: Shown,
): Promise<Rows> => {
  const docs = numbered.map(({ doc }) => doc)
  const texts = await textsOf(bodiesWith(view, numbered), docs)
  const named = contract === 'always' || compat === 'iostabc'
  const isoOf = isoTimes()
  const written = numbered.map(row => ({ ...row, own: texts.get(row.doc.id) ?? row.doc }))
  const rows = written.map(({ seq, above, doc, own }) => ({
    seq: compat === 'iostabc' || above !== undefined ? undefined : seq,
    status: head === undefined ? undefined : statusOf(above),
    contract: named ? own.contract : undefined,
    action_name: own.action_name,
    data: '',
    block: String(doc.height),
    tx_hash: doc.tx_hash,
    from: doc.from,
    to: doc.to,
    created_at: isoOf(doc.time),
    index: doc.index,
    return: own.return,
    status_code: doc.status_code,
    amount: doc.amount,
  }))
  const dataOf =
    compat === 'iostabc' ? (text: string) => text : (text: string) => new RawJson(arrayText(text))
  return { rows, data: written.map(({ own }) => dataOf(own.data)) }
}

/** `toIso` for rows of which those beside each other often share a time. */
const isoTimes = () => {
  let last: { readonly time: bigint; readonly iso: string } | undefined
  return (time: bigint): string => {
    if (last?.time !== time) last = { time, iso: toIso(time) }
    return last.iso
  }
}

/** An array of texts without escapes, as nearly all are: matched in half of the time that JSON.parse takes. */
const TEXTS = /^\["[ !#-[\]-\uffff]*"(?:,"[ !#-[\]-\uffff]*")*\]$/

/** The chain's text as an array: inserted unchanged, so that every number keeps its digits. */
const arrayText = (text: string): string => {
  if (TEXTS.test(text)) return text
  try {
    if (Array.isArray(JSON.parse(text))) return text
  } catch {
    // Any text is legal here (system.iost/receipt): it is given as it is.
  }
  return `[${JSON.stringify(text)}]`
}
