import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { YAML } from 'bun'
import { FOLDER, mappingFiles } from '../../scripts/mappings.ts'
import { tables, withTable } from '../../scripts/tables.ts'
import { checkedCommand, checkedFlags } from '../support/command-lines.ts'
import { commandsIn, documented, fences } from '../support/documented.ts'
import { ROOT } from '../support/root.ts'

const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md'],
  ...[...new Bun.Glob('*.md').scanSync(join(ROOT, 'docs'))].map(name => `docs/${name}`).sort(),
]
const OTHERS = [...['wait', 'now', 'from', 'unix-socket'], ...['chain', 'blocks', 'folder', 'sweeps']]

/** The code in a text: spans in backticks, and lines of fenced and of indented blocks. */
const codeIn = (text: string): readonly string[] => [
  ...fences(text).flatMap(commandsIn),
  ...[...text.matchAll(/`([^`\n]+)`|^ {4}(\S.*)$/gm)].map(([, span, line]) => span ?? line ?? ''),
]

test.each(DOCUMENTS)('documents: the commands and flags in %s exist', path => {
  const text = documented(path)
  const lines = codeIn(text).flatMap(code => {
    const [, rest] = /^(?:\S*\/)?iostlens ([a-z].*)$/.exec(code) ?? []
    return rest === undefined ? [] : [rest]
  })
  expect(lines.filter(rest => checkedCommand(rest) !== 'right')).toEqual([])
  expect(checkedFlags(text, OTHERS).unknown).toEqual([])
})

test.each(DOCUMENTS)('documents: the links of %s and the files it names exist', path => {
  const text = documented(path)
  const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => join(ROOT, dirname(path), link))
  const files = [...text.matchAll(/`((?:src|test|scripts|indices|docs)\/[\w./-]+|[A-Z]+\.md|compose\.yaml)`/g)].map(
    ([, file = '']) => join(ROOT, file),
  )
  expect([...links, ...files].filter(file => !existsSync(file))).toEqual([])
})

test('documents: docs/operating.md gives the same remedy for every alert as its rule', async () => {
  const { groups } = YAML.parse(await Bun.file(join(ROOT, 'packaging/prometheus/alerts.yml')).text()) as {
    groups: { rules: { alert: string; annotations: { action: string } }[] }[]
  }
  const rows = groups.flatMap(({ rules }) =>
    rules.map(({ alert, annotations: { action } }) => `| \`${alert}\` | ${action} |`),
  )
  const told = documented('docs/operating.md', '## Alarms').split('\n')
  expect(rows.length).toBeGreaterThan(10)
  expect(told.filter(line => line.startsWith('| `'))).toEqual(rows)
})

const SOURCES = join(ROOT, 'src')
const OTHER = new Set(['http/reference/style.ts'])

/** The text of a file without its comments, which may mention any flag. */
const withoutComments = (text: string): string =>
  text
    .split('\n')
    .filter(line => !/^\s*(?:\/\*|\*|\/\/)/.test(line))
    .join('\n')

test('help: every command and flag in a message exists', async () => {
  const wrong: string[] = []
  let count = 0
  for (const file of new Bun.Glob('**/*.ts').scanSync(SOURCES)) {
    if (file.endsWith('.test.ts') || OTHER.has(file)) continue
    const text = withoutComments(readFileSync(join(SOURCES, file), 'utf8'))
    wrong.push(...checkedFlags(text, ['unix-socket']).unknown.map(flag => `${file}: --${flag}`))
    for (const [whole, rest = ''] of text.matchAll(/(?<=['"`])iostlens ((?:[a-z]+|--[a-z])[^'"`\n]*)/g)) {
      const found = checkedCommand(rest)
      // A sentence about the program is not a command line.
      if (found === 'none' && /^(?:answers |loads |--help$)/.test(rest)) continue
      if (found === 'right') count += 1
      else wrong.push(`${file}: ${whole}`)
    }
  }
  expect({ wrong, many: count > 20 }).toEqual({ wrong: [], many: true })
})

const filesIn = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .map(path => [relative(ROOT, path), readFileSync(path, 'utf8')]),
  )

test(`generated files: ${FOLDER} is the output of the code (else run: scripts/bun scripts/generate.ts)`, () => {
  expect(filesIn(FOLDER)).toEqual(new Map(mappingFiles()))
})

for (const table of tables)
  test(`generated tables: ${table.name} in ${table.document} is the output of the registry (else run: scripts/bun scripts/generate.ts)`, () => {
    const text = readFileSync(join(ROOT, table.document), 'utf8')
    expect(withTable(table, text)).toBe(text)
  })
