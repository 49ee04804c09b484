import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { commands } from '#cli/commands.ts'
import { settingNames } from '#cli/settings.ts'

/** What messages tell people to type must exist: commands, their words, and flags. */

const SOURCES = join(import.meta.dir, '../src')
const COMMON = ['help', 'version']
/** Where help shows what a flag looks like. */
const FORMS = ['flag', 'some-name']
const FLAGS = new Set([...COMMON, ...FORMS, ...settingNames, ...settingNames.map(name => `${name}-file`)])
/** CSS has names of the same form. */
const OTHER = new Set(['http/reference-style.ts'])

/** Text of a file without its comments: these may speak of any flag. */
const withoutComments = (text: string): string =>
  text
    .split('\n')
    .filter(line => !/^\s*(?:\/\*|\*|\/\/)/.test(line))
    .join('\n')

const told = async (): Promise<readonly { readonly file: string; readonly text: string }[]> => {
  const found = []
  for await (const file of new Bun.Glob('**/*.ts').scan(SOURCES))
    if (!file.endsWith('.test.ts') && !OTHER.has(file))
      found.push({ file, text: withoutComments(await Bun.file(join(SOURCES, file)).text()) })
  return found
}

test('help: every flag that is named exists', async () => {
  const unknown: string[] = []
  let count = 0
  for (const { file, text } of await told())
    for (const [, flag = ''] of text.matchAll(/(?<![\w-])--([a-z][a-z-]*[a-z])/g)) {
      count += 1
      if (!FLAGS.has(flag)) unknown.push(`${file}: --${flag}`)
    }
  expect({ unknown, many: count > 40 }).toEqual({ unknown: [], many: true })
})

test('help: every command that is named exists, and takes the flags beside it', async () => {
  const wrong: string[] = []
  let count = 0
  for (const { file, text } of await told())
    for (const [whole, rest = ''] of text.matchAll(/(?<=['"`])iostlens ((?:[a-z]+|--[a-z])[^'"`\n]*)/g)) {
      const words = rest.split(' ')
      const command = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
      if (command === undefined) {
        // A sentence about the program, not a command line.
        if (!/^(?:answers |loads |--help$)/.test(rest)) wrong.push(`${file}: ${whole}`)
        continue
      }
      count += 1
      const known = new Set<string>([...COMMON, ...command.settings])
      for (const [, flag = ''] of rest.matchAll(/--([a-z][a-z-]*[a-z])/g))
        if (!known.has(flag)) wrong.push(`${file}: ${whole}`)
    }
  expect({ wrong, many: count > 20 }).toEqual({ wrong: [], many: true })
})
