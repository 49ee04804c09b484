import { hash } from 'node:crypto'
import {
  type ClassDeclaration,
  type ClassExpression,
  type Expression,
  type MethodDefinition,
  Parser,
  type Program,
} from 'acorn'
import { parseChainArguments } from '#chain/effects.ts'
import { boundedCache } from '#store/bounded-cache.ts'
import { formatValue } from './text.ts'

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

export type CalledAction = { readonly contract: string; readonly action_name: string; readonly data: string }

/** Types and names of the arguments of an action. */
export type ActionSignature = {
  /** The types in the contract's current ABI. */
  readonly types: readonly string[]
  /** The names in the contract's current code. */
  readonly names: readonly string[]
}

/** The signature of an action whose contract is not requested. */
export const UNKNOWN_SIGNATURE: ActionSignature = { types: [], names: [] }

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
export function nameArguments(
  { contract, action_name }: Pick<CalledAction, 'contract' | 'action_name'>,
  { types, names }: ActionSignature,
): readonly string[] {
  const own = NAMES.get(`${contract}/${action_name}`)?.split(' ')
  return own ?? (names.length === types.length ? names : [])
}

/** The arguments of an action, in order; undefined: the signer's data is not a list. */
export function parseCallArguments(action: CalledAction, signature: ActionSignature): readonly Argument[] | undefined {
  const values = parseChainArguments(action.data)
  const isOfChain = NAMES.has(`${action.contract}/${action.action_name}`)
  // A call with a different number of values was written for other code.
  const isNamed = isOfChain || values?.length === signature.types.length
  const names = isNamed ? nameArguments(action, signature) : []
  return values?.map((value, at) => ({
    name: names[at] ?? '',
    type: signature.types[at] ?? '',
    value: formatValue(value),
    isOfChain,
  }))
}

/** Whether some argument names of an action come from its contract's code. */
export const isNamedByCode = (action: CalledAction, signature: ActionSignature | undefined): boolean =>
  signature !== undefined &&
  (parseCallArguments(action, signature) ?? []).some(({ name, isOfChain }) => name !== '' && !isOfChain)

/** The parameter names of a contract's methods, by method name. */
type ParameterNames = ReadonlyMap<string, readonly string[]>

/** Maximum length of code that is parsed: a transaction, which contains the code, has at most 64 KB. */
const MAX_CODE = 65_536
const MAX_NAME = 40
/** Maximum size of the cache, in characters. */
const MAX_CACHED = 8 * 1024 * 1024
/** Memory of a name in characters: its text, and its place in the list. */
const NAME_CHARACTERS = 80

/** The cache by hash of the code, which alone determines the names. Contracts with equal code share an entry. */
const known = boundedCache<ParameterNames>(MAX_CACHED)
const NONE: ParameterNames = new Map()

/**
 * The parameter names of the methods in a contract's class. Code that cannot be parsed has none, nor has a
 * method with a parameter that is not a plain identifier.
 */
export function parseParameterNames(code: string): ParameterNames {
  if (code === '' || code.length > MAX_CODE) return NONE
  const key = hash('sha256', code)
  const before = known.get(key)
  if (before !== undefined) return before.value
  const program = parseProgram(code)
  const contract = program && findContractClass(program)
  const methods = (contract?.body.body ?? []).filter(
    member => member.type === 'MethodDefinition' && member.kind === 'method' && !member.static,
  )
  const names = new Map(
    methods.flatMap(method => {
      const { key, computed, value } = method as MethodDefinition
      if (computed || key.type !== 'Identifier') return []
      const names = value.params.map(parameter => {
        const name = parameter.type === 'AssignmentPattern' ? parameter.left : parameter
        return name.type === 'Identifier' && name.name.length <= MAX_NAME ? name.name : undefined
      })
      return [[key.name, names.includes(undefined) ? [] : (names as readonly string[])]]
    }),
  )
  known.put(key, names, countCachedCharacters(code, names))
  return names
}

/** Every name is a slice of the code, so that one name keeps the whole code in memory. */
function countCachedCharacters(code: string, names: ParameterNames): number {
  let count = names.size
  for (const parameters of names.values()) count += parameters.length
  return code.length + count * NAME_CHARACTERS
}

type Class = ClassDeclaration | ClassExpression

/** The exported class: `module.exports = Name`, or a class expression in the place of the name. */
function findContractClass({ body }: Program): Class | undefined {
  const exported = body.flatMap(listExported).at(-1)
  if (exported?.type === 'ClassExpression') return exported
  if (exported?.type !== 'Identifier') return undefined
  return body.find(statement => statement.type === 'ClassDeclaration' && statement.id.name === exported.name) as
    | Class
    | undefined
}

function listExported(statement: Program['body'][number]): readonly Expression[] {
  const given = statement.type === 'ExpressionStatement' ? statement.expression : undefined
  if (given?.type !== 'AssignmentExpression' || given.left.type !== 'MemberExpression') return []
  const { object, property, computed } = given.left
  const isExport = !computed && isNamed(object, 'module') && isNamed(property, 'exports')
  return isExport ? [given.right] : []
}

const isNamed = (node: { readonly type: string; readonly name?: string }, name: string): boolean =>
  node.type === 'Identifier' && node.name === name

/** The code may be hostile. If the parser throws anything, including a stack overflow, the code has no names. */
function parseProgram(code: string): Program | undefined {
  try {
    return QuickParser.parse(code, { ecmaVersion: 'latest', sourceType: 'script' })
  } catch {
    return undefined
  }
}

/** Members of the parser that are missing in its types. */
type Inner = {
  readonly start: number
  readonly labels: readonly unknown[]
  raise(at: number, message: string): never
  parseLabeledStatement(...given: readonly unknown[]): unknown
}

const MAX_LABELS = 100

/**
 * The parser without the checks that take quadratic time, such as for duplicate declarations, or for
 * assignment targets, where a pattern is traversed again for each enclosing one. The checks are unnecessary,
 * since the chain accepted only code that its own engine could parse.
 */
const QuickParser = Parser.extend(Base => {
  class Quick extends (Base as unknown as new () => Inner) {
    declareName(): void {}
    checkLValSimple(): void {}
    checkLValPattern(): void {}
    checkLValInnerPattern(): void {}
    validateRegExpPattern(): void {}
    override parseLabeledStatement(...given: readonly unknown[]): unknown {
      if (this.labels.length > MAX_LABELS) this.raise(this.start, 'Too many labels.')
      return super.parseLabeledStatement(...given)
    }
  }
  return Quick as unknown as typeof Parser
})
