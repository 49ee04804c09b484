import { escapeForeignText, Failure, removeSecrets } from '#failure/failure.ts'
import type { ApiAction, Text } from '../define.ts'

/** Maximum length of a caller's text in a message, in characters. */
const SHOWN = 64
/** Characters in which credentials are looked for: more than any key or password has. */
const MASKED = 1_024

/** A caller's text for a message: quoted, with credentials removed, truncated and escaped. */
export function quoteGiven(given: string): string {
  const text = removeSecrets(decodePlain(given.slice(0, MASKED)))
  const characters = [...text.slice(0, 2 * SHOWN)]
  const cut = characters.length > SHOWN || text.length > 2 * SHOWN || given.length > MASKED
  const safe = escapeForeignText(characters.slice(0, SHOWN).join(''))
  return `'${safe}${cut ? '…' : ''}'`
}

/** The text itself, or its decoded form if percent-encoding hides a key. */
function decodePlain(text: string): string {
  const decoded = text.replace(/%([0-7][0-9a-f])/gi, (_whole, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  return removeSecrets(decoded) === decoded ? text : decoded
}

/** A failure caused by the caller, with messages in both languages. */
export const badRequest = (text: Text, details: Readonly<Record<string, string | number>> = {}): Failure =>
  new Failure('bad_request', text.en, { zh: text.zh, details })

/**
 * A typing error has at most one edit per this many characters. A name with more edits is a different word,
 * and suggesting it would mislead.
 */
const LETTERS_PER_EDIT = 3

/**
 * The candidate that `name` most probably means: the one with the fewest edits, the first among equals.
 * undefined: no candidate is near.
 */
export function findNearest(name: string, candidates: readonly string[]): string | undefined {
  const wanted = name.slice(0, SHOWN).toLowerCase()
  let best: { readonly candidate: string; readonly edits: number } | undefined
  for (const candidate of candidates) {
    const edits = countEdits(wanted, candidate.toLowerCase())
    const most = Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / LETTERS_PER_EDIT))
    if (edits <= most && (best === undefined || edits < best.edits)) best = { candidate, edits }
  }
  return best?.candidate
}

/** The end of a message about an unknown name: the nearest name, or `none` if there is none. */
export const nearestText = (near: string | undefined, none: Text = { en: '.', zh: '。' }): Text =>
  near === undefined ? none : { en: `; the nearest one is '${near}'.`, zh: `；最接近的是 '${near}'。` }

/** Number of insertions, deletions and replacements that turn `a` into `b` (Levenshtein distance). */
function countEdits(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...a].entries()) {
    const line = [row + 1]
    for (const [column, other] of [...b].entries())
      line.push(
        Math.min(
          (above[column + 1] ?? 0) + 1,
          (line[column] ?? 0) + 1,
          (above[column] ?? 0) + (letter === other ? 0 : 1),
        ),
      )
    above = line
  }
  return above.at(-1) ?? 0
}

/** Throws the refusal of an unknown or missing module or action. */
export function refuseRoute(
  call: { readonly module: string | undefined; readonly action: string | undefined },
  actions: readonly Pick<ApiAction, 'module' | 'action'>[],
): never {
  const modules = [...new Set(actions.map(({ module }) => module))]
  const module = requireKnownName('module', call.module, modules)
  const wanted = call.action
  const own = actions.filter(action => action.module === module)
  const owners = actions.filter(({ action }) => action === wanted?.toLowerCase()).map(one => one.module)
  if (wanted !== undefined && owners.length > 0 && !owners.includes(module))
    throw badRequest(
      {
        en: `Action '${wanted.toLowerCase()}' belongs to module ${owners.map(quoteName).join(' or ')}, not to '${module}'.`,
        zh: `action '${wanted.toLowerCase()}' 属于 module ${owners.map(quoteName).join(' 或 ')}，不属于 '${module}'。`,
      },
      { parameter: 'module' },
    )
  const name = requireKnownName(
    'action',
    wanted,
    own.map(({ action }) => action),
  )
  throw new TypeError(`There is no action ${name} in module ${module}.`)
}

const quoteName = (name: string): string => `'${name}'`

function requireKnownName(parameter: 'module' | 'action', text: string | undefined, names: readonly string[]): string {
  if (text === undefined)
    throw badRequest(
      {
        en: `Parameter '${parameter}' is missing; it must be one of ${names.join(', ')}.`,
        zh: `缺少参数 '${parameter}'；取值须为以下之一：${names.join('、')}。`,
      },
      { parameter },
    )
  const found = names.find(name => name === text.toLowerCase())
  if (found !== undefined) return found
  const rest = nearestText(findNearest(text, names), {
    en: `; it must be one of ${names.join(', ')}.`,
    zh: `；取值须为以下之一：${names.join('、')}。`,
  })
  throw badRequest(
    {
      en: `Parameter '${parameter}' is ${quoteGiven(text)}, which is unknown${rest.en}`,
      zh: `参数 '${parameter}' 的值 ${quoteGiven(text)} 未知${rest.zh}`,
    },
    { parameter },
  )
}

/**
 * The refusal of a parameter that is neither one of the action's (`all`) nor one of those of every action (`common`).
 */
export function unknownParameter(
  name: string,
  all: readonly {
    readonly name: string
    readonly names: readonly string[]
    readonly spec: { readonly description: Text; readonly foreignNames?: readonly string[] }
  }[],
  common: readonly string[],
): Failure {
  const names = all.flatMap(each => each.names)
  const meant = all.find(({ spec }) => spec.foreignNames?.includes(name.toLowerCase()))
  if (meant !== undefined) {
    const { description } = meant.spec
    return badRequest(
      {
        en: `Unknown parameter ${quoteGiven(name)}; use '${meant.name}': ${description.en}`,
        zh: `未知参数 ${quoteGiven(name)}；请使用 '${meant.name}'：${description.zh}`,
      },
      { parameter: meant.name },
    )
  }
  const near = findNearest(name, [...names, ...common])
  const known = [...names, ...common.filter(each => each !== 'module' && each !== 'action')]
  const rest = nearestText(near, {
    en: `; this action takes ${known.join(', ')}.`,
    zh: `；此接口的参数为 ${known.join('、')}。`,
  })
  return badRequest(
    { en: `Unknown parameter ${quoteGiven(name)}${rest.en}`, zh: `未知参数 ${quoteGiven(name)}${rest.zh}` },
    near === undefined ? {} : { parameter: near },
  )
}
