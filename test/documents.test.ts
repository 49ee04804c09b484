import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { commands } from '#cli/commands.ts'
import { flagsOf } from '#cli/parse-arguments.ts'
import { settingNames } from '#cli/settings.ts'
import { commandsIn, documented, fences } from './support/documented.ts'

const ROOT = resolve(import.meta.dir, '..')
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/api.md',
  'docs/operating.md',
  'docs/performance.md',
  'docs/settings.md',
  'docs/trust.md',
]
/** Flags that are no settings: of every command, and of programs of others. */
const OTHER_FLAGS = ['help', 'some-name', 'rows', 'wait', 'from']

const known = new Set([...settingNames.flatMap(flagsOf), ...OTHER_FLAGS])
const names = new Set(commands.map(({ name }) => name))
/** The first words of commands that have two. */
const families = new Set([...names].filter(name => name.includes(' ')).map(name => name.split(' ')[0]))

/** What stands as code: spans in backticks, lines of fenced and of indented blocks. */
const codeIn = (text: string): readonly string[] => [
  ...fences(text).flatMap(commandsIn),
  ...[...text.matchAll(/`([^`\n]+)`|^ {4}(\S.*)$/gm)].map(([, span, line]) => span ?? line ?? ''),
]

test.each(DOCUMENTS)('documents: %s names commands and flags that exist', path => {
  const text = documented(path)
  const used = codeIn(text).flatMap(code => {
    const [, first = '', second = ''] = /^(?:\S*\/)?iostlens ([a-z]+)(?: ([a-z]+))?(?= |$)/.exec(code) ?? []
    return first === '' ? [] : [families.has(first) ? `${first} ${second}` : first]
  })
  expect(used.filter(name => !names.has(name))).toEqual([])
  const flags = [...text.matchAll(/(?<![\w-])--([a-z][a-z-]*)/g)].map(([, flag = '']) => flag)
  expect(flags.filter(flag => !known.has(flag))).toEqual([])
})

test.each(DOCUMENTS)('documents: what %s links to, and the files it names, exist', path => {
  const text = documented(path)
  const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => join(ROOT, dirname(path), link))
  const files = [
    ...text.matchAll(/`((?:src|test|scripts|indices|docs)\/[\w./-]+|[A-Z]+\.md|compose\.yaml)`/g),
  ].map(([, file = '']) => join(ROOT, file))
  expect([...links, ...files].filter(file => !existsSync(file))).toEqual([])
})
