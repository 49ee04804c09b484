import type { Action, Block, Transaction } from './block.ts'
import { type ExactJson, skipValue, tryParseExact } from './json.ts'
import { isSystemContract, toContractId } from './names.ts'

/**
 * The arguments of an action as the chain reads them from its data; undefined: the data begins with no JSON list, and
 * the action fails. The chain reads the first value, whatever text comes after it, and drops a comma before the bracket
 * that ends the text (go-iost `vm/monitor.go` UnmarshalArgs; NewJson of go-simplejson decodes one value of a stream).
 * Lone surrogates in an argument are replaced, as Go does.
 */
export function parseChainArguments(data: string): readonly ExactJson[] | undefined {
  let args = tryParseExact(data)
  if (args === undefined) {
    const text = data.endsWith(',]') ? `${data.slice(0, -2)}]` : data
    args = tryParseExact(text.slice(0, skipValue(text)))
  }
  if (!Array.isArray(args)) return undefined
  // Only an escape can write a lone surrogate.
  return data.includes('\\u') ? args.map(value => (typeof value === 'string' ? value.toWellFormed() : value)) : args
}

/** Whether a transaction failed. A delayed one did not fail, though it has not been executed yet. */
export const hasFailed = (tx: { readonly receipt: { readonly statusCode: string } }): boolean =>
  tx.receipt.statusCode !== 'SUCCESS'

/** Whether a transaction's actions and receipts took effect. */
export const applies = (tx: { readonly delay: bigint; readonly receipt: { readonly statusCode: string } }): boolean =>
  !hasFailed(tx) && tx.delay <= 0n

/** Movements of token.iost, and the position of the amount in the arguments of the receipt or action. */
export const AMOUNT_AT: ReadonlyMap<string, number> = new Map([
  ['transfer', 3],
  ['transferFreeze', 3],
  ['issue', 2],
  ['destroy', 2],
])

/** Whether receipts become records unless an action owns them: token movements and sign-ups. */
export const isMovement = (contract: string, name: string): boolean =>
  contract === 'token.iost' ? AMOUNT_AT.has(name) : contract === 'auth.iost' && name === 'signUp'

/**
 * Contract and function in a receipt's `func_name`, such as `token.iost/transfer`: the parts before and after
 * the first `/`. Without a `/` the function is empty.
 */
export function splitFuncName(funcName: string): { readonly contract: string; readonly name: string } {
  const slash = funcName.indexOf('/')
  return slash < 0
    ? { contract: funcName, name: '' }
    : { contract: funcName.slice(0, slash), name: funcName.slice(slash + 1) }
}

/**
 * The contract of the chain itself that an action of system.iost installs, if its code is not in the chain: in genesis,
 * or by updateNativeCode with a version (go-iost `vm/native/system.go`).
 */
function findInstalledContract({ contract, actionName, data }: Action, height: number): string | undefined {
  const isUpdate = actionName === 'updateNativeCode'
  if (contract !== 'system.iost' || !(isUpdate || (actionName === 'initSetCode' && height === 0))) return undefined
  const [id, version] = parseChainArguments(data) ?? []
  return typeof id !== 'string' || (isUpdate && version === '') ? undefined : id
}

/**
 * The contract that another contract deployed, by a call of system.iost that no action and no receipt shows.
 * A transaction deploys at most one such contract, whose id contains the transaction's hash (go-iost
 * `vm/native/system.go` setCode). The evidence is this id among the transaction's return values, RAM payers
 * or receipts. `position`: that of the action that led to it.
 */
export function findNestedContract({ actions, receipt, hash }: Transaction) {
  const outer = actions.findIndex(({ contract }) => !isSystemContract(contract))
  if (outer < 0 || actions.some(({ contract, actionName }) => contract === 'system.iost' && actionName === 'setCode'))
    return undefined
  const id = toContractId(hash)
  const returned = receipt.returns.findIndex(text => text.includes(id))
  if (returned >= 0) return { id, position: returned }
  const isNamed =
    receipt.ramUsage.some(([payer]) => payer === id) ||
    receipt.receipts.some(({ funcName }) => funcName.startsWith(`${id}/`))
  return isNamed ? { id, position: outer } : undefined
}

/**
 * Ids of the contracts that a block adds or changes and whose ABI is not in the chain, in order, each once; a node must
 * be asked for the ABI. They are the contracts of the chain itself (genesis `initSetCode`, successful
 * `updateNativeCode`) and those that contracts deployed. Other contracts of users have their ABI in the chain.
 */
export function listUnknownContracts({ height, transactions }: Block): readonly string[] {
  const ids: string[] = []
  for (const tx of transactions) {
    if (hasFailed(tx)) continue
    const within = applies(tx) ? findNestedContract(tx) : undefined
    if (within !== undefined) ids.push(within.id)
    for (const action of tx.actions) {
      const id = findInstalledContract(action, height)
      if (id !== undefined) ids.push(id)
    }
  }
  return ids.length > 1 ? [...new Set(ids)] : ids
}

/** Actions and receipts of vote_producer.iost that change the set of producers. */
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
/** Those of them that name a key, after the account. */
const KEYS: ReadonlySet<string> = new Set(['initProducer', 'applyRegister', 'updateProducer'])
const CONTRACT = 'vote_producer.iost'
const PREFIX = `${CONTRACT}/`

/**
 * Whether a block may change the producers or their keys: by a receipt of vote_producer.iost, or by an action
 * (its early versions emitted no receipts). Failed transactions change nothing.
 */
export const changesProducers = ({ transactions }: Pick<Block, 'transactions'>): boolean =>
  transactions.some(
    tx =>
      !hasFailed(tx) &&
      (tx.receipt.receipts.some(
        ({ funcName }) => funcName.startsWith(PREFIX) && CHANGES.has(funcName.slice(PREFIX.length)),
      ) ||
        tx.actions.some(({ contract, actionName }) => contract === CONTRACT && CHANGES.has(actionName))),
  )

/**
 * Whether an action alone gives a producer a key, without a receipt of the same transaction. The hash of a
 * block proves its receipts; only the hash of its transaction proves the text of an action.
 */
export const namesKeySilently = ({ transactions }: Pick<Block, 'transactions'>): boolean =>
  transactions.some(
    tx =>
      !hasFailed(tx) &&
      tx.actions.some(
        ({ contract, actionName, data }) =>
          contract === CONTRACT &&
          KEYS.has(actionName) &&
          !tx.receipt.receipts.some(
            ({ funcName, content }) => funcName === `${PREFIX}${actionName}` && hasSameParties(content, data),
          ),
      ),
  )

function hasSameParties(content: string, data: string): boolean {
  const [account, key] = parseChainArguments(content) ?? []
  const [ofAccount, ofKey] = parseChainArguments(data) ?? []
  return typeof account === 'string' && account === ofAccount && key === ofKey
}
