import { expect, test } from 'bun:test'
import { chmod, cp, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, measureInTurns } from '../../scripts/benchmarks/requests.ts'
import { cliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { SOAK } from '../support/processes/soak.ts'
import { ROOT } from '../support/root.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'
import { until } from '../support/wait.ts'

const SCRIPTS = join(ROOT, 'scripts')

test.each([
  ...['start', 'check', 'test', 'build', 'release', 'backfill', 'follow', 'check-loaded', 'bench', 'generate-chain'],
  'replay',
])('scripts: %s prints its help from any folder', async script => {
  const { code, out, err } = await spawnIn('/', [join(SCRIPTS, script), '--help']).ended
  expect([code, err]).toEqual([0, ''])
  expect(out).toStartWith(`usage: scripts/${script}`)
})

test('scripts: bun is the pinned version', async () => {
  const { engines } = await Bun.file(join(ROOT, 'package.json')).json()
  const outcome = await spawnIn('/', [join(SCRIPTS, 'bun'), '--version']).ended
  expect(outcome).toMatchObject({ code: 0, out: `${engines.bun}\n` })
})

/** A program that leaves its session and ignores every signal but SIGKILL, like a server that hangs. */
const DEAF = "#!/usr/bin/env bash\ntrap '' TERM HUP INT\nwhile :; do sleep 1; done\n"
const TESTS = '#!/usr/bin/env bash\nsetsid "$(dirname "$0")/deaf" &\ntouch started\nwait\n'
const DONE = '#!/usr/bin/env bash\n'

/** Processes whose environment contains a folder. The test run itself was started without it and is not among them. */
async function processesOf(run: RegExp): Promise<readonly string[]> {
  const all = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const environments = await Promise.all(all.map(pid => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')))
  return all.filter((_pid, at) => run.test(environments[at] ?? ''))
}

async function stopRun(signal: 'SIGTERM' | 'SIGINT', code: number): Promise<void> {
  await using folder = await cliFolder()
  const scripts = join(folder.path, 'scripts')
  await mkdir(scripts)
  await cp(join(ROOT, 'scripts/test'), join(scripts, 'test'))
  for (const [name, text] of Object.entries({ check: DONE, build: DONE, bun: TESTS, deaf: DEAF })) {
    await Bun.write(join(scripts, name), text)
    await chmod(join(scripts, name), 0o755)
  }
  const temporary = join(folder.path, 'temporary')
  await mkdir(temporary)
  const run = spawnIn(folder.path, ['env', `TMPDIR=${temporary}`, 'ELASTICSEARCH_URL=x', join(scripts, 'test')])
  const isOurs = new RegExp(`(?:^|\\0)TEST_RUN=${RegExp.escape(temporary)}/`)
  await until(() => Bun.file(join(folder.path, 'started')).exists())
  expect((await processesOf(isOurs)).length).toBeGreaterThan(0)
  run.kill(signal)
  expect((await run.ended).code).toBe(code)
  expect(await processesOf(isOurs)).toEqual([])
}

// At the same time, since each waits some seconds for programs that ignore the signal.
test('scripts/test: SIGTERM and SIGINT end all processes of the run', async () => {
  await Promise.all([stopRun('SIGTERM', 143), stopRun('SIGINT', 130)])
})

const SCENARIOS = SOAK ? ['load', 'pages', 'exports', 'explorer', 'copies'] : ['load', 'pages']
const SMALL = ['--blocks', '100', '--holders', '200', '--clients', '2', '--seconds', '1', '--rounds', '1']
const url = elasticsearchUrl()

async function measure(store: string): Promise<void> {
  await using folder = await cliFolder()
  const command = [join(SCRIPTS, 'bench'), ...SCENARIOS, ...SMALL, '--store', store]
  const environment = { BENCH_FOLDER: folder.path, ...(url !== undefined && { ELASTICSEARCH_URL: url }) }
  const { code, out, err } = await spawnIn(folder.path, command, environment).ended
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

const TARGETS = ['a', 'b', 'c'].map(name => ({ name, url: 'http://127.0.0.1:1', paths: [name] }))
const TURNS = { clients: 1, seconds: 1, elasticPid: undefined }
const FIGURES = { requests: 10, p50: 1, p99: 2, failed: 0 }

test('bench: the order of the targets alternates, and the round with the highest rate counts for each', async () => {
  const rates = [10, 20, 30, 31, 19, 12, 11, 25, 29]
  let asked = ''
  const client: Client = async ({ name }) => {
    asked += name
    return { ...FIGURES, perSecond: rates[asked.length - 1] ?? 0 }
  }
  const rows = await measureInTurns(TARGETS, { ...TURNS, client, rounds: 3 })
  expect(asked).toBe('abccbaabc')
  expect(rows.map(row => `${row['what']} ${row['/s']}`)).toEqual(['a 12', 'b 25', 'c 31'])
})

test('bench: a turn with failed requests is repeated, and one whose requests always fail gives no figure', async () => {
  let turns = 0
  const client: Client = async () => ({ ...FIGURES, perSecond: ++turns, failed: turns < 3 ? 1 : 0 })
  const [row] = await measureInTurns(TARGETS.slice(0, 1), { ...TURNS, client, rounds: 1 })
  expect(row?.['/s']).toBe(3)
  const failing: Client = async () => ({ ...FIGURES, perSecond: 9, failed: 3 })
  const failed = measureInTurns(TARGETS, { ...TURNS, client: failing, rounds: 1 })
  await expect(failed).rejects.toThrow('3 of 10 requests failed')
})
