import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cpuOf } from '../support/cost/cpu.ts'
import { COMMON_SHAPES, SHAPES } from '../support/cost/long-texts.ts'
import { samplePaths } from './samples.ts'
import { explorerOn } from './served.ts'
import { DECIDING, type Spoil, spoiltPage } from './spoilt-page.ts'

/**
 * Whoever publishes a transaction chooses its texts, up to 64 KB of them. Whatever they are, a page shows them in a time
 * that is linear in their length, and in a bounded length.
 */

setDefaultTimeout(600_000)

/** The longest text of a transaction, and one after which pages show no more of it. */
const LONGEST = 64_000
const LONG = 32_000
/** Most milliseconds of CPU for a page with some twenty such texts. One in quadratic time takes seconds. */
const MOST_MS = 400

let paths: readonly string[] = []
beforeAll(async () => {
  // The first page of each kind, and some transactions of each kind.
  const all = await samplePaths(await explorerOn())
  const kinds = new Set<string>()
  paths = all.filter((path, at) => {
    const kind = path.replace(/(?<=^\/\w+\/)[^/?]+/, '').replaceAll(/=[^&]*/g, '')
    return (path.startsWith('/tx/') && at % 4 === 0) || (!kinds.has(kind) && kinds.add(kind))
  })
})

/** Fields whose texts anybody may write as long as he likes; the chain limits those of names. */
const FREE: ReadonlySet<string> = new Set([
  ...['data', 'memo', 'return', 'content', 'message', 'full_name', 'fullName', 'orig_info', 'metadata', 's', 'args'],
  ...['language', 'version', 'code', 'loc', 'url', 'value', 'func_name', 'action_name', 'contract'],
])

/** Arguments of calls that become long on one page. */
const ARGUMENTS = 10

/** Makes the first text of each field long, and the first arguments of calls. No two texts are equal. */
function longest(of: (length: number) => string, length: number): Spoil {
  const seen = new Map<string, number>()
  return (text, { key, isArgument }) => {
    if (!isArgument && !FREE.has(key)) return text
    const field = isArgument ? 'argument' : key
    const before = seen.get(field) ?? 0
    seen.set(field, before + 1)
    if (before >= (isArgument ? ARGUMENTS : 1)) return text
    return `${of(length - 4).toWellFormed()}${1_000 + seen.size * 20 + before}`
  }
}

/** Amounts as an argument may have them: their digits are grouped, and their zeros trimmed. */
const AMOUNTS: typeof SHAPES = [
  { name: 'digits', of: length => '1'.repeat(length) },
  { name: 'decimals', of: length => `1.${'0'.repeat(length - 2)}` },
]

/** Shapes of one page: the pages take turns, so that each shape is tried on several of them. */
const EACH = 3

test.each([
  ['all texts', new Set<string>(), COMMON_SHAPES],
  ['texts that nothing depends on', DECIDING, SHAPES],
] as const)('long texts: %s of every page are shown in linear time and bounded length', async (_, spares, shapes) => {
  const faults: string[] = []
  expect(paths.length * EACH).toBeGreaterThan(shapes.length)
  for (const [turn, path] of paths.entries()) {
    const own = Array.from({ length: EACH }, (_each, at) => shapes[(turn * EACH + at) % shapes.length])
    const amounts = path.startsWith('/tx/') ? AMOUNTS : []
    for (const [at, { name, of }] of [...own.filter(shape => shape !== undefined), ...amounts].entries()) {
      const show = (length: number) => spoiltPage(path, { lang: 'en', spoil: longest(of, length), spares })
      let html: string | undefined
      const ms = await cpuOf(async () => {
        html = await show(LONGEST)
      }, MOST_MS)
      if (ms > MOST_MS) faults.push(`${path} ${name}: ${Math.round(ms)} ms`)
      if (at % EACH > 0) continue
      const more = (html?.length ?? 0) - ((await show(LONG))?.length ?? 0)
      if (more > 1_000) faults.push(`${path} ${name}: ${more} characters more`)
    }
  }
  expect(faults).toEqual([])
})
