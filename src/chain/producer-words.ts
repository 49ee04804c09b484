import type { Block, Transaction } from './block.ts'
import { hasFailed } from './effects.ts'

/** Actions and receipts of vote_producer.iost that change who is a producer. */
const CHANGES: ReadonlySet<string> = new Set([
  'initProducer',
  'applyRegister',
  'approveRegister',
  'applyUnregister',
  'approveUnregister',
  'forceUnregister',
  'unregister',
  'updateProducer',
  'logInProducer',
  'logOutProducer',
])
/** Those that name a key, behind the account. */
const KEYS: ReadonlySet<string> = new Set(['initProducer', 'applyRegister', 'updateProducer'])
const CONTRACT = 'vote_producer.iost'
const PREFIX = `${CONTRACT}/`

type Transactions = Pick<Block, 'transactions'>

/**
 * Whether a block may change who is a producer, or with which key: a receipt of vote_producer.iost says so, or an action
 * does (its early versions emitted no receipts). Failed transactions change nothing.
 */
export const changesProducers = ({ transactions }: Transactions): boolean =>
  transactions.some(
    tx =>
      !hasFailed(tx) &&
      (tx.receipt.receipts.some(
        ({ funcName }) => funcName.startsWith(PREFIX) && CHANGES.has(funcName.slice(PREFIX.length)),
      ) ||
        tx.actions.some(({ contract, actionName }) => contract === CONTRACT && CHANGES.has(actionName))),
  )

/**
 * Whether an action alone gives a producer a key: no receipt of its transaction says the same. Receipts are proved by the
 * block's hash, an action's text only by its transaction's.
 */
export const namesKeySilently = ({ transactions }: Transactions): boolean =>
  transactions.some(
    tx =>
      !hasFailed(tx) &&
      tx.actions.some(
        ({ contract, actionName, data }) =>
          contract === CONTRACT && KEYS.has(actionName) && !saysSo(tx, actionName, data),
      ),
  )

const saysSo = (tx: Transaction, name: string, data: string): boolean =>
  tx.receipt.receipts.some(
    ({ funcName, content }) => funcName === `${PREFIX}${name}` && sameParties(content, data),
  )

const partiesOf = (text: string): readonly unknown[] => {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.slice(0, 2) : []
  } catch {
    return []
  }
}

const sameParties = (content: string, data: string): boolean => {
  const [account, key] = partiesOf(content)
  const [ofAccount, ofKey] = partiesOf(data)
  return typeof account === 'string' && account === ofAccount && key === ofKey
}
