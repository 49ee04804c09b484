import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { YAML } from 'bun'
import { checkedCommand, checkedFlags } from '../support/command-lines.ts'
import { commandsIn, documented, fences } from '../support/documented.ts'
import { ROOT } from '../support/root.ts'

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/api.md',
  'docs/operating.md',
  'docs/operating-elasticsearch.md',
  'docs/operating-explorer.md',
  'docs/operating-proxies.md',
  'docs/operating-sqlite.md',
  'docs/paying-voters.md',
  'docs/performance.md',
  'docs/settings.md',
  'docs/trust.md',
  'docs/wallets-first-screen.md',
  'docs/years-statement.md',
]
/** Flags of other programs and of scripts in the documents. */
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
