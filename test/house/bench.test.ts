import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { cliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { SOAK } from '../support/processes/soak.ts'
import { ROOT } from '../support/root.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'

const BENCH = join(ROOT, 'scripts/bench')
const SCENARIOS = SOAK ? ['load', 'pages', 'exports', 'explorer', 'copies'] : ['load', 'pages', 'exports']
const SMALL = ['--blocks', '100', '--holders', '200', '--clients', '2', '--seconds', '1', '--rounds', '1']
const url = elasticsearchUrl()

async function measure(store: string): Promise<void> {
  await using folder = await cliFolder()
  const { code, out, err } = await spawnIn(folder.path, [BENCH, ...SCENARIOS, ...SMALL, '--store', store], {
    BENCH_FOLDER: folder.path,
    ...(url !== undefined && { ELASTICSEARCH_URL: url }),
  }).ended
  // When a section fails, stderr says why.
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  const titles = SCENARIOS.map(scenario => `${scenario}, busy, ${store}`)
  expect([...out.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual(['archive write, busy', ...titles])
  expect([...new Bun.Glob('iostlens-bench-*').scanSync({ cwd: folder.path, onlyFiles: false })]).toEqual([])
}

test('bench: scenarios run on a small chain, and no files are left', () => measure('sqlite'))

// Every run has some scenarios on SQLite; the others, and those on Elasticsearch, are a sweep of `scripts/soak`.
if (SOAK && url !== undefined)
  test('bench: scenarios run on Elasticsearch, and no indices are left', async () => {
    const listed = async () => Object.keys((await (await fetch(`${url}/bench-*`)).json()) as object)
    const before = new Set(await listed())
    await measure('elasticsearch')
    expect((await listed()).filter(index => !before.has(index))).toEqual([])
  })
