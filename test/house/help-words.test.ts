import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { checkedCommand, checkedFlags } from '../support/command-lines.ts'
import { ROOT } from '../support/root.ts'

/** Commands, their arguments and flags that messages tell users to type must exist. */

const SOURCES = join(ROOT, 'src')
/** CSS custom properties look like flags. */
const OTHER = new Set(['http/reference/style.ts'])

/** Flags of other programs. */
const OTHERS = ['unix-socket']

/** The text of a file without its comments, which may mention any flag. */
const withoutComments = (text: string): string =>
  text
    .split('\n')
    .filter(line => !/^\s*(?:\/\*|\*|\/\/)/.test(line))
    .join('\n')

async function told(): Promise<readonly { readonly file: string; readonly text: string }[]> {
  const found = []
  for await (const file of new Bun.Glob('**/*.ts').scan(SOURCES))
    if (!file.endsWith('.test.ts') && !OTHER.has(file))
      found.push({ file, text: withoutComments(await Bun.file(join(SOURCES, file)).text()) })
  return found
}

test('help: every flag in a message exists', async () => {
  const unknown: string[] = []
  let count = 0
  for (const { file, text } of await told()) {
    const checked = checkedFlags(text, OTHERS)
    count += checked.count
    unknown.push(...checked.unknown.map(flag => `${file}: --${flag}`))
  }
  expect({ unknown, many: count > 40 }).toEqual({ unknown: [], many: true })
})

test('help: every command in a message exists and has the flags given with it', async () => {
  const wrong: string[] = []
  let count = 0
  for (const { file, text } of await told())
    for (const [whole, rest = ''] of text.matchAll(/(?<=['"`])iostlens ((?:[a-z]+|--[a-z])[^'"`\n]*)/g)) {
      const found = checkedCommand(rest)
      // A sentence about the program is not a command line.
      if (found === 'none' && /^(?:answers |loads |--help$)/.test(rest)) continue
      if (found === 'right') count += 1
      else wrong.push(`${file}: ${whole}`)
    }
  expect({ wrong, many: count > 20 }).toEqual({ wrong: [], many: true })
})
