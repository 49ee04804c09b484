import { getContractAbi } from '#actions/get-contract-abi.ts'
import { getContractCode } from '#actions/get-contract-code.ts'
import { isSystemContract } from '#chain/names.ts'
import type { CalledAction, Signature } from './format/arguments.ts'
import { parameterNamesIn } from './format/parameter-names.ts'
import { ifFound } from './found.ts'
import type { Visit } from './page.ts'

/** The current state of a contract. */
type KnownContract = {
  readonly signatures: ReadonlyMap<string, Signature>
  /** The block that set its code; undefined: the code gives no argument names. */
  readonly block: string | undefined
}

/** Contracts by their ids. */
export type KnownContracts = ReadonlyMap<string, KnownContract>

/** Maximum number of contracts that a page requests. */
const MOST = 10

/** The contracts that actions call, except those that do not exist. */
export const knownContracts = async (
  visit: Pick<Visit, 'ask'>,
  actions: readonly CalledAction[],
): Promise<KnownContracts> => {
  const ids = [...new Set(actions.map(({ contract }) => contract))].slice(0, MOST)
  const found = await Promise.all(ids.map(async id => [id, await ifFound(knownContract(visit, id))] as const))
  return new Map(found.flatMap(([id, contract]) => (contract === undefined ? [] : [[id, contract] as const])))
}

/**
 * A contract's actions with the types and names of their arguments. Throws 'not_found', 'loading' and 'bad_request'.
 */
const knownContract = async (visit: Pick<Visit, 'ask'>, contract: string): Promise<KnownContract> => {
  const [{ abis }, code] = await Promise.all([
    visit.ask(getContractAbi, { contract }),
    // The argument names of system contracts are known.
    isSystemContract(contract) ? undefined : visit.ask(getContractCode, { contract }),
  ])
  const names = code && parameterNamesIn(code.code)
  return {
    signatures: new Map(abis.map(({ name, args }) => [name, { types: args, names: names?.get(name) ?? [] }])),
    block: code === undefined || code.block === '' ? undefined : code.block,
  }
}

/** The signature of an action, and the block of the code with its names. */
export const signatureIn = (
  known: KnownContracts,
  { contract, action_name }: CalledAction,
): { readonly signature: Signature | undefined; readonly block: string | undefined } => {
  const found = known.get(contract)
  return { signature: found?.signatures.get(action_name), block: found?.block }
}
