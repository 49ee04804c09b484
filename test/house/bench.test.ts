import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { cliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { ROOT } from '../support/root.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'

const BENCH = join(ROOT, 'scripts/bench')
const url = elasticsearchUrl()

/** Headings of the whole report, in order. */
const SECTIONS = [
  'Loading busy blocks, Elasticsearch',
  'Answers, Elasticsearch',
  'Exports, Elasticsearch',
  'Loading busy blocks, SQLite',
  'Answers, SQLite',
  'Exports, SQLite',
  'Loading near-empty blocks, Elasticsearch',
  'Loading near-empty blocks, SQLite',
  'Promises',
]

test.skipIf(url === undefined)('bench: every section runs on a small chain, and no files are left', async () => {
  await using folder = await cliFolder()
  const { code, out, err } = await spawnIn(folder.path, [BENCH, '--blocks', '20', '--out', 'report.md'], {
    ELASTICSEARCH_URL: url ?? '',
  }).ended
  // When a section fails, stderr says why.
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  expect([...out.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual(SECTIONS)
  expect(await Bun.file(join(folder.path, 'report.md')).text()).toBe(out)
  const [, prefix = ''] = /Indices (bench-\w+)-/.exec(out) ?? []
  expect(prefix).not.toBe('')
  const left = (await (await fetch(`${url}/${prefix}*`)).json()) as object
  expect(Object.keys(left)).toEqual([])
})
