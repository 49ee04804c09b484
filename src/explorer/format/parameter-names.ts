import { hash } from 'node:crypto'
import {
  type ClassDeclaration,
  type ClassExpression,
  type Expression,
  type MethodDefinition,
  Parser,
  type Program,
} from 'acorn'
import { boundedCache } from '#store/bounded-cache.ts'

/** The parameter names of a contract's methods, by method name. */
export type ParameterNames = ReadonlyMap<string, readonly string[]>

/** Maximum length of code that is parsed: a transaction, which contains the code, has at most 64 KB. */
const MOST_CODE = 65_536
/** Maximum length of a name. */
const MOST_NAME = 40
/** Maximum size of the cache, in characters. */
const MOST_KEPT = 8 * 1024 * 1024
/** Memory of a name in characters: its text, and its place in the list. */
const NAME_CHARACTERS = 80

/** The cache by hash of the code, which alone determines the names. Contracts with equal code share an entry. */
const known = boundedCache<ParameterNames>(MOST_KEPT)
const NONE: ParameterNames = new Map()

/**
 * The parameter names of the methods in a contract's class. Code that cannot be parsed has none, nor has a
 * method with a parameter that is not a plain identifier.
 */
export const parameterNamesIn = (code: string): ParameterNames => {
  if (code === '' || code.length > MOST_CODE) return NONE
  const key = hash('sha256', code)
  const before = known.get(key)
  if (before !== undefined) return before.value
  const names = readNames(code)
  known.put(key, names, charactersKept(code, names))
  return names
}

/** Every name is a slice of the code, so that one name keeps the whole code in memory. */
const charactersKept = (code: string, names: ParameterNames): number => {
  let count = names.size
  for (const parameters of names.values()) count += parameters.length
  return code.length + count * NAME_CHARACTERS
}

const readNames = (code: string): ParameterNames => {
  const program = programIn(code)
  const contract = program && contractIn(program)
  const methods = (contract?.body.body ?? []).filter(
    member => member.type === 'MethodDefinition' && member.kind === 'method' && !member.static,
  )
  // Of two methods with the same name, the later one is effective.
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

/** The exported class: `module.exports = Name`, or a class expression in the place of the name. */
const contractIn = ({ body }: Program): Class | undefined => {
  const exported = body.flatMap(exportedBy).at(-1)
  if (exported?.type === 'ClassExpression') return exported
  if (exported?.type !== 'Identifier') return undefined
  return body.find(statement => statement.type === 'ClassDeclaration' && statement.id.name === exported.name) as
    | Class
    | undefined
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

/** The code may be hostile. If the parser throws anything, including a stack overflow, the code has no names. */
const programIn = (code: string): Program | undefined => {
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

/** Maximum number of nested labels. */
const MOST_LABELS = 100

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
      if (this.labels.length > MOST_LABELS) this.raise(this.start, 'Too many labels.')
      return super.parseLabeledStatement(...given)
    }
  }
  return Quick as unknown as typeof Parser
})
