import { listIn, written } from './json.ts'

/** An argument of an action. */
export type Argument = {
  /** `""`: it has none. */
  readonly name: string
  readonly type: string
  readonly value: string
  /** It belongs to a system contract, so its name says what the value is. */
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
  /** By the ABI that its contract has now. */
  readonly types: readonly string[]
  /** By the code that its contract has now. */
  readonly names: readonly string[]
}

/** Of an action whose contract is not asked. */
export const UNKNOWN_SIGNATURE: Signature = { types: [], names: [] }

const OWNERS: ReadonlySet<string> = new Set([
  ...['account', 'from', 'to', 'issuer', 'payer', 'pledger', 'producer', 'receiver', 'voter'],
])

/** Whether an argument of a system contract names an owner. */
export const isOwner = ({ name, isOfChain }: Pick<Argument, 'name' | 'isOfChain'>): boolean =>
  isOfChain && OWNERS.has(name)

/** The names of an action's arguments: those of the chain's own contracts, else those of the code; [] unless they fit the types. */
export const namesOf = (
  { contract, action_name }: Pick<CalledAction, 'contract' | 'action_name'>,
  { types, names }: Signature,
): readonly string[] => {
  const own = NAMES.get(`${contract}/${action_name}`)?.split(' ')
  return own ?? (names.length === types.length ? names : [])
}

/** The arguments of an action, in order; undefined: the signer wrote something else than a list. */
export const argumentsIn = (action: CalledAction, signature: Signature): readonly Argument[] | undefined => {
  const values = listIn(action.data)
  const isOfChain = NAMES.has(`${action.contract}/${action.action_name}`)
  // A call with another number of values was written for other code.
  const isNamed = isOfChain || values?.length === signature.types.length
  const names = isNamed ? namesOf(action, signature) : []
  return values?.map((value, at) => ({
    name: names[at] ?? '',
    type: signature.types[at] ?? '',
    value: written(value),
    isOfChain,
  }))
}

/** Whether arguments of an action have names that its contract's code gives them. */
export const isNamedByCode = (action: CalledAction, signature: Signature | undefined): boolean =>
  signature !== undefined &&
  (argumentsIn(action, signature) ?? []).some(({ name, isOfChain }) => name !== '' && !isOfChain)
