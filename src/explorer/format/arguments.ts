import { argumentsAsRead } from '#chain/arguments.ts'
import { written } from './json.ts'

/** An argument of an action. */
export type Argument = {
  /** `""`: the argument has no name. */
  readonly name: string
  readonly type: string
  readonly value: string
  /** Whether the argument is one of a system contract, so that its name is reliable. */
  readonly isOfChain: boolean
}

/** Names of the arguments of the chain's own contracts, in order. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['token.iost/create', 'token issuer total_supply config'],
  ['token.iost/issue', 'token to amount'],
  ['token.iost/transfer', 'token from to amount memo'],
  ['token.iost/transferFreeze', 'token from to amount until memo'],
  ['token.iost/destroy', 'token from amount'],
  ['token.iost/balanceOf', 'token account'],
  ['token.iost/supply', 'token'],
  ['token.iost/totalSupply', 'token'],
  ['token.iost/recycle', 'token'],
  ['token721.iost/create', 'symbol issuer total_supply'],
  ['token721.iost/issue', 'symbol to metadata'],
  ['token721.iost/transfer', 'symbol from to token_id'],
  ['auth.iost/signUp', 'account owner_key active_key'],
  ['auth.iost/addPermission', 'account permission threshold'],
  ['auth.iost/dropPermission', 'account permission'],
  ['auth.iost/assignPermission', 'account permission item weight'],
  ['auth.iost/revokePermission', 'account permission item'],
  ['auth.iost/addGroup', 'account group'],
  ['auth.iost/dropGroup', 'account group'],
  ['auth.iost/assignGroup', 'account group item weight'],
  ['auth.iost/revokeGroup', 'account group item'],
  ['auth.iost/assignPermissionToGroup', 'account permission group'],
  ['auth.iost/revokePermissionInGroup', 'account permission group'],
  ['system.iost/setCode', 'contract'],
  ['system.iost/updateCode', 'contract data'],
  ['system.iost/receipt', 'text'],
  ['system.iost/cancelDelaytx', 'transaction'],
  ['gas.iost/pledge', 'pledger to amount'],
  ['gas.iost/unpledge', 'pledger from amount'],
  ['ram.iost/buy', 'payer account bytes'],
  ['ram.iost/sell', 'account receiver bytes'],
  ['ram.iost/lend', 'from to bytes'],
  ['bonus.iost/exchangeIOST', 'account amount'],
  ['vote_producer.iost/applyRegister', 'account public_key location url network_id is_producer'],
  ['vote_producer.iost/updateProducer', 'account public_key location url network_id'],
  ['vote_producer.iost/applyUnregister', 'account'],
  ['vote_producer.iost/approveRegister', 'account'],
  ['vote_producer.iost/approveUnregister', 'account'],
  ['vote_producer.iost/forceUnregister', 'account'],
  ['vote_producer.iost/unregister', 'account'],
  ['vote_producer.iost/logInProducer', 'account'],
  ['vote_producer.iost/logOutProducer', 'account'],
  ['vote_producer.iost/vote', 'voter producer amount'],
  ['vote_producer.iost/unvote', 'voter producer amount'],
  ['vote_producer.iost/topupVoterBonus', 'producer amount payer'],
  ['vote_producer.iost/topupCandidateBonus', 'amount payer'],
  ['vote_producer.iost/getVoterBonus', 'voter'],
  ['vote_producer.iost/voterWithdraw', 'voter'],
  ['vote_producer.iost/candidateWithdraw', 'account'],
])

/** An action of a transaction. */
export type CalledAction = { readonly contract: string; readonly action_name: string; readonly data: string }

/** Types and names of the arguments of an action. */
export type Signature = {
  /** The types in the contract's current ABI. */
  readonly types: readonly string[]
  /** The names in the contract's current code. */
  readonly names: readonly string[]
}

/** The signature of an action whose contract is not requested. */
export const UNKNOWN_SIGNATURE: Signature = { types: [], names: [] }

const OWNERS: ReadonlySet<string> = new Set([
  ...['account', 'from', 'to', 'issuer', 'payer', 'pledger', 'producer', 'receiver', 'voter'],
])

/** Whether an argument of a system contract names an owner. */
export const isOwner = ({ name, isOfChain }: Pick<Argument, 'name' | 'isOfChain'>): boolean =>
  isOfChain && OWNERS.has(name)

/**
 * The names of an action's arguments: those of system contracts, else those of the code; [] if their number
 * differs from that of the types.
 */
export const namesOf = (
  { contract, action_name }: Pick<CalledAction, 'contract' | 'action_name'>,
  { types, names }: Signature,
): readonly string[] => {
  const own = NAMES.get(`${contract}/${action_name}`)?.split(' ')
  return own ?? (names.length === types.length ? names : [])
}

/** The arguments of an action, in order; undefined: the signer's data is not a list. */
export const argumentsIn = (action: CalledAction, signature: Signature): readonly Argument[] | undefined => {
  const values = argumentsAsRead(action.data)
  const isOfChain = NAMES.has(`${action.contract}/${action.action_name}`)
  // A call with a different number of values was written for other code.
  const isNamed = isOfChain || values?.length === signature.types.length
  const names = isNamed ? namesOf(action, signature) : []
  return values?.map((value, at) => ({
    name: names[at] ?? '',
    type: signature.types[at] ?? '',
    value: written(value),
    isOfChain,
  }))
}

/** Whether some argument names of an action come from its contract's code. */
export const isNamedByCode = (action: CalledAction, signature: Signature | undefined): boolean =>
  signature !== undefined &&
  (argumentsIn(action, signature) ?? []).some(({ name, isOfChain }) => name !== '' && !isOfChain)
