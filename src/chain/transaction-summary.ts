import type { Action, Transaction, TxReceipt } from './block.ts'
import { WORD } from './bounds.ts'
import { gasUsageOf } from './decode-transaction.ts'
import { asObject, listOf, objectOf, parseAnswer, textOf } from './json-fields.ts'

/** What a list shows of a transaction. */
export type TransactionSummary = Pick<Transaction, 'publisher'> &
  Pick<TxReceipt, 'statusCode' | 'gasUsage'> & {
    /** Number of actions. */
    readonly actions: number
    /** undefined: the transaction has no actions. */
    readonly first: Pick<Action, 'contract' | 'actionName'> | undefined
  }

/**
 * Reads these fields of a stored `body` alone: a page of transactions needs neither arguments nor receipts. The values are
 * those of `decodeTransaction`. Throws Failure 'bad_block'.
 */
export const summarizeTransaction = (body: string): TransactionSummary => {
  const path = { key: 'transaction' }
  const fields = asObject(parseAnswer(body, 'transaction'), path)
  const inReceipt = { above: path, key: 'tx_receipt' }
  const receipt = objectOf(fields, 'tx_receipt', path)
  const actions = listOf(fields, 'actions', path)
  const inFirst = { above: { above: path, key: 'actions' }, key: 0 }
  const first = actions.length === 0 ? undefined : asObject(actions[0], inFirst)
  return {
    publisher: textOf(fields, 'publisher', path),
    statusCode: textOf(receipt, 'status_code', inReceipt, WORD),
    gasUsage: gasUsageOf(receipt, inReceipt),
    actions: actions.length,
    first: first && {
      contract: textOf(first, 'contract', inFirst),
      actionName: textOf(first, 'action_name', inFirst),
    },
  }
}
