import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { cpuOf } from '../support/cost/cpu.ts'
import { ROOT } from '../support/root.ts'

/**
 * No regular expression of the product takes quadratic time for a long text. Each is tried with texts that repeat one of
 * its own characters behind its own beginning. Those of `cli` read the operator's settings.
 */

setDefaultTimeout(600_000)

/** A text in which a quadratic pattern takes 25 ms and more, and a linear one at most one. */
const LENGTH = 15_000
const MOST_MS = 12

function literalsIn(file: string): readonly { readonly at: string; readonly pattern: RegExp }[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  const found: { readonly at: string; readonly pattern: RegExp }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
      const pattern = new RegExp(node.text.slice(1, end), node.text.slice(end + 1))
      found.push({ at: `${file}:${line} ${node.text}`, pattern })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** Characters that the parts of a pattern match, and texts that it may begin with. */
function partsOf({ source }: RegExp): { readonly letters: readonly string[]; readonly heads: readonly string[] } {
  const plain = source.replaceAll(/\\[dDwWsSbB]|\(\?(?:[:=!]|<[=!])|[\^$()*+?{}|[\].]/g, ' ').replaceAll('\\', '')
  const letters = new Set([...[...plain].filter(letter => letter !== ' ').slice(0, 12), 'a', '0', ' ', '\t'])
  const head = /^[^ ]*/.exec(plain.trimStart())?.[0] ?? ''
  return { letters: [...letters], heads: ['', head] }
}

async function dearOf(at: string, pattern: RegExp): Promise<readonly string[]> {
  if (!/[*+,]/.test(pattern.source)) return []
  const { letters, heads } = partsOf(pattern)
  for (const letter of letters)
    for (const head of heads)
      for (const end of ['\0', '\n\0']) {
        const text = `${head}${letter.repeat(LENGTH / letter.length)}${end}`
        const ms = await cpuOf(() => {
          pattern.lastIndex = 0
          text.replace(pattern, '')
        }, MOST_MS)
        if (ms > MOST_MS)
          return [`${at}: ${Math.round(ms)} ms for ${JSON.stringify(head)} and many ${JSON.stringify(letter)}`]
      }
  return []
}

test('patterns: each takes linear time', async () => {
  const files = ['src', 'indices'].flatMap(top =>
    readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
      .filter(name => /(?<!\.test)\.(?:tsx?|js)$/.test(name) && !name.startsWith('cli/'))
      .map(name => `${top}/${name}`),
  )
  const all = files.flatMap(literalsIn)
  expect(all.length).toBeGreaterThan(150)
  const dear: string[] = []
  for (const { at, pattern } of all) dear.push(...(await dearOf(at, pattern)))
  expect(dear).toEqual([])
})

test('patterns: the trial recognises those that are not linear', async () => {
  for (const pattern of [/0+$/, /\/+$/, /\B(?=(\d{3})+$)/g, /([a-z][a-z0-9+.-]*:\/\/)[^\s/]+@/gi, /([^']*)…/g])
    expect([pattern.source, (await dearOf('here', pattern)).length]).toEqual([pattern.source, 1])
})
