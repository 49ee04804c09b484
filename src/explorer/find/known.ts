import type { Ask } from '#actions/ask.ts'
import { getAccountBalance, getBalances } from '#actions/get-balance.ts'
import { getContractAbi, getContractCode } from '#actions/get-contract.ts'
import { isHash, isPossibleName, isSystemContract } from '#chain/names.ts'
import { catchKinds } from '#failure/failure.ts'
import {
  type ActionSignature,
  type CalledAction,
  isOwner,
  parseCallArguments,
  parseParameterNames,
  UNKNOWN_SIGNATURE,
} from '../format/arguments.ts'
import { isDelayed, type TransactionDetail } from '../format/transaction.ts'
import type { Visit } from '../page.ts'

/** The answer for a part of a page; undefined: the thing does not exist, or its name is invalid. */
export const catchNotFound = <T>(answer: Promise<T>): Promise<T | undefined> =>
  catchKinds(['not_found', 'loading', 'bad_request'], answer)

/**
 * The canonical name of one owner: a contract's id may be given without its prefix. Throws the failures of
 * get-account-balance, so a list of names, which some actions accept, is refused.
 */
export const findCanonicalName = async (ask: Ask, id: string): Promise<string> =>
  isPossibleName(id) && !isHash(id) ? id : (await ask(getAccountBalance, { account: id })).name

/** The current state of a contract. */
type KnownContract = {
  readonly signatures: ReadonlyMap<string, ActionSignature>
  /** The block that set its code; undefined: the code gives no argument names. */
  readonly block: string | undefined
}

export type KnownContracts = ReadonlyMap<string, KnownContract>

const MAX_CONTRACTS = 10

/** The contracts that actions call, except those that do not exist. */
export async function findExistingContracts(
  visit: Pick<Visit, 'ask'>,
  actions: readonly CalledAction[],
): Promise<KnownContracts> {
  const ids = [...new Set(actions.map(({ contract }) => contract))].slice(0, MAX_CONTRACTS)
  const found = await Promise.all(ids.map(async id => [id, await catchNotFound(findKnownContract(visit, id))] as const))
  return new Map(found.flatMap(([id, contract]) => (contract === undefined ? [] : [[id, contract] as const])))
}

/**
 * A contract's actions with the types and names of their arguments. Throws 'not_found', 'loading' and 'bad_request'.
 */
async function findKnownContract(visit: Pick<Visit, 'ask'>, contract: string): Promise<KnownContract> {
  const [{ abis }, code] = await Promise.all([
    visit.ask(getContractAbi, { contract }),
    // The argument names of system contracts are known.
    isSystemContract(contract) ? undefined : visit.ask(getContractCode, { contract }),
  ])
  const names = code && parseParameterNames(code.code)
  return {
    signatures: new Map(abis.map(({ name, args }) => [name, { types: args, names: names?.get(name) ?? [] }])),
    block: code === undefined || code.block === '' ? undefined : code.block,
  }
}

/** The signature of an action, and the block of the code with its names. */
export function findSignature(
  known: KnownContracts,
  { contract, action_name }: CalledAction,
): { readonly signature: ActionSignature | undefined; readonly block: string | undefined } {
  const found = known.get(contract)
  return { signature: found?.signatures.get(action_name), block: found?.block }
}

/** The owners among a transaction's arguments that have a page; `all`: every named owner. */
export type KnownOwners = ReadonlySet<string> | 'all'

/** Maximum number of owners to check; one call answers for all. */
const MAX_OWNERS = 50

/**
 * The owners that exist. A successful transaction names only existing owners. Those of a failed or delayed
 * one are checked.
 */
export async function findExistingOwners(
  visit: Pick<Visit, 'ask'>,
  transaction: TransactionDetail,
): Promise<KnownOwners> {
  const { actions, tx_receipt } = transaction
  if (tx_receipt.status_code === 'SUCCESS' && !isDelayed(transaction)) return 'all'
  const named = actions.flatMap(action => parseCallArguments(action, UNKNOWN_SIGNATURE) ?? []).filter(isOwner)
  const names = [...new Set(named.map(({ value }) => value))].filter(isPossibleName).slice(0, MAX_OWNERS)
  if (names.length === 0) return new Set()
  const found = await catchNotFound(visit.ask(getBalances, { accounts: names.join(',') }))
  return new Set(names.filter((_name, at) => (found?.balances[at] ?? null) !== null))
}
