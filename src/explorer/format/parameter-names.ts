import {
  type ClassDeclaration,
  type ClassExpression,
  type Expression,
  type MethodDefinition,
  Parser,
  type Program,
} from 'acorn'
import { boundedCache } from '#store/bounded-cache.ts'

/** Names of the parameters of each method of a contract, by its name. */
export type ParameterNames = ReadonlyMap<string, readonly string[]>

/** Longest code that is read: a transaction, which brings it, has 64 KB. */
const MOST_CODE = 65_536
/** Longest name that is shown. */
const MOST_NAME = 40
/** Characters of code whose names are kept. */
const MOST_KEPT = 8 * 1024 * 1024

/** By contract and version, and by the code itself: a version is a text of the publisher's, who may use it twice. */
const known = boundedCache<ParameterNames>(MOST_KEPT)
const NONE: ParameterNames = new Map()

type Code = { readonly contract_id: string; readonly version: string; readonly code: string }

/**
 * The names that the class of a contract gives the parameters of its methods. Code that cannot be read has none, nor has a
 * method with a parameter that is no plain name.
 */
export const parameterNamesIn = ({ contract_id, version, code }: Code): ParameterNames => {
  if (code === '' || code.length > MOST_CODE) return NONE
  const key = JSON.stringify([contract_id, version, code])
  const before = known.get(key)
  if (before !== undefined) return before.value
  const names = readNames(code)
  known.put(key, names, key.length)
  return names
}

const readNames = (code: string): ParameterNames => {
  const program = programIn(code)
  const contract = program && contractIn(program)
  const methods = (contract?.body.body ?? []).filter(
    member => member.type === 'MethodDefinition' && member.kind === 'method' && !member.static,
  )
  // Of two methods of one name the later one is called.
  return new Map(methods.flatMap(method => namedParameters(method as MethodDefinition)))
}

const namedParameters = ({ key, computed, value }: MethodDefinition): [string, readonly string[]][] => {
  if (computed || key.type !== 'Identifier') return []
  const names = value.params.map(parameter => {
    const name = parameter.type === 'AssignmentPattern' ? parameter.left : parameter
    return name.type === 'Identifier' && name.name.length <= MOST_NAME ? name.name : undefined
  })
  return [[key.name, names.includes(undefined) ? [] : (names as readonly string[])]]
}

type Class = ClassDeclaration | ClassExpression

/** The class that is exported: `module.exports = Name`, or the class itself in its place. */
const contractIn = ({ body }: Program): Class | undefined => {
  const exported = body.flatMap(exportedBy).at(-1)
  if (exported?.type === 'ClassExpression') return exported
  if (exported?.type !== 'Identifier') return undefined
  return body.find(
    statement => statement.type === 'ClassDeclaration' && statement.id.name === exported.name,
  ) as Class | undefined
}

const exportedBy = (statement: Program['body'][number]): readonly Expression[] => {
  const given = statement.type === 'ExpressionStatement' ? statement.expression : undefined
  if (given?.type !== 'AssignmentExpression' || given.left.type !== 'MemberExpression') return []
  const { object, property, computed } = given.left
  const isExport = !computed && isNamed(object, 'module') && isNamed(property, 'exports')
  return isExport ? [given.right] : []
}

const isNamed = (node: { readonly type: string; readonly name?: string }, name: string): boolean =>
  node.type === 'Identifier' && node.name === name

/** Anybody may have written the code: whatever the parser throws, also for want of stack, it has no names. */
const programIn = (code: string): Program | undefined => {
  try {
    return QuickParser.parse(code, { ecmaVersion: 'latest', sourceType: 'script' })
  } catch {
    return undefined
  }
}

/** What the parser has beside its types. */
type Inner = {
  readonly start: number
  readonly labels: readonly unknown[]
  raise(at: number, message: string): never
  parseLabeledStatement(...given: readonly unknown[]): unknown
}

/** Labels within each other. */
const MOST_LABELS = 100

/**
 * The parser without those checks whose time grows with the square of the code, such as for names that are declared twice:
 * the chain took only code that its own engine could read.
 */
const QuickParser = Parser.extend(Base => {
  class Quick extends (Base as unknown as new () => Inner) {
    declareName(): void {}
    validateRegExpPattern(): void {}
    override parseLabeledStatement(...given: readonly unknown[]): unknown {
      if (this.labels.length > MOST_LABELS) this.raise(this.start, 'Too many labels.')
      return super.parseLabeledStatement(...given)
    }
  }
  return Quick as unknown as typeof Parser
})
