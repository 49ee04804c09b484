import { expect, test } from 'bun:test'
import { chmod, cp, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '#test/support/wait.ts'
import { cliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { ROOT } from '../support/root.ts'

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
