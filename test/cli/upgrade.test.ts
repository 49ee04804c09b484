import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Replay } from '../replay/serve.ts'
import { witness } from '../support/oracle/witness.ts'
import { type CliFolder, cliFolder, type Outcome, spawnIn } from '../support/processes/cli-process.ts'
import { BINARY } from '../support/processes/program.ts'
import { runTool } from '../support/processes/run-tool.ts'
import { SOAK } from '../support/processes/soak.ts'
import { ROOT } from '../support/root.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { replayed } from '../support/stores/loading.ts'
import { stop } from './folder.ts'

/**
 * Stores made by earlier programs are opened by the current one, compiled if it is built. The earlier
 * programs are taken from the history of the project.
 */

/** In the recorded chain, transactions begin near block 760. */
const HEIGHT = 800
const GOOD_ANSWERS = 30

const isBuilt = existsSync(BINARY)

function git(...args: readonly string[]): string {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : ''
}

/** The last commit that changed a file, or that changed lines of it containing a text. */
const lastChange = (path: string, ...only: readonly string[]): string =>
  git('log', '-1', '--format=%H', ...only, '--', path)

/** If undefined, this is no checkout with its history. */
function earlierPrograms() {
  if (git('rev-parse', '--is-shallow-repository') !== 'false') return undefined
  const derivation = lastChange('indices/registry.ts', '-GDERIVATION = [0-9]')
  return derivation === ''
    ? undefined
    : { derivation: `${derivation}^`, tables: lastChange('src/store/sqlite/tables.ts') }
}
const programs = earlierPrograms()
/** For Elasticsearch, which has no tables. */
const schema = `${lastChange('src/store/elastic/schema/mappings.ts', '-GSCHEMA = [0-9]')}^`
const NAME =
  programs === undefined
    ? 'upgrade: not tested, this is no git checkout with its whole history (git fetch --unshallow)'
    : `upgrade to ${isBuilt ? 'dist/iostlens' : 'the program as it is in src'}`

const lockIn = (folder: string): string => readFileSync(join(folder, 'bun.lock'), 'utf8')

describe.skipIf(programs === undefined)(NAME, () => {
  let node: Replay
  let folder: CliFolder
  beforeAll(async () => {
    node = await replayed(HEIGHT)
    folder = await cliFolder(isBuilt ? [BINARY] : undefined)
  })
  afterAll(async () => {
    await folder[Symbol.asyncDispose]()
    await node.stop()
  })

  /** The program of a commit, in a folder of its own, with the packages of its lock file. */
  const programOf = async (commit: string) => {
    const path = await mkdtemp(join(folder.path, 'earlier-'))
    await runTool(['bash', '-c', 'git archive "$1" | tar -x -C "$2"', 'archive', commit, path])
    // The packages are usually the current ones.
    if (lockIn(path) === lockIn(ROOT)) await symlink(join(ROOT, 'node_modules'), join(path, 'node_modules'))
    else await runTool([process.execPath, 'install', '--frozen-lockfile', '--production'], { folder: path })
    return async (...args: readonly string[]): Promise<Outcome> => {
      const outcome = await spawnIn(folder.path, [process.execPath, join(path, 'src/main.ts'), ...args]).ended
      if (outcome.code !== 0) throw new Error(`${args.join(' ')} of ${commit}:\n${outcome.err}`)
      return outcome
    }
  }

  /** Serves with the current program. Returns its error message if it refuses. */
  const served = async (store: readonly string[], key: string): Promise<string | undefined> => {
    const service = folder.start(['serve', '--listen', '127.0.0.1:0', ...store])
    const url = await service.firstLine.catch(() => undefined)
    if (url === undefined) {
      const { code, err } = await service.ended
      expect(code).toBe(3)
      return err
    }
    const first = await fetch(`${url}/api/base/get-overview`, { headers: { 'x-api-key': key } })
    expect([first.status, await first.text()]).toEqual([200, expect.any(String)])
    const asked = await witness({ ask: (path, init) => fetch(`${url}${path}`, init), key, lines: [] }, { seed: 7 })
    while (asked.good() < GOOD_ANSWERS) await asked.sees(200)
    const { wrong } = await asked.stop()
    expect([wrong, asked.height()]).toEqual([[], HEIGHT])
    await stop(service)
    return undefined
  }

  /** Loads a store with the program of a commit, then opens it with the current one. */
  const upgraded = async ({ what, commit }: { what: string; commit: string }, storeName: string) => {
    const run = await programOf(commit)
    const store = ['--store', storeName]
    await run('load', '--once', '--prove', 'linked', '--node', node.url, ...store)
    const { out } = await run('keys', 'add', 'kept', '--per-second', '1000000', '--per-day', '1000000000', ...store)
    const key = /il_\w+/.exec(out)?.[0] ?? ''
    const refusal = await served(store, key)
    if (what !== 'tables') expect(refusal).toBeDefined()
    if (refusal === undefined) return
    expect(refusal).toContain('iostlens indices migrate')
    const migrated = await folder.run(['indices', 'migrate', ...store])
    expect([migrated.code, migrated.err]).toEqual([0, expect.any(String)])
    expect(await served(store, key)).toBeUndefined()
  }

  test.each(Object.entries(programs ?? {}))(
    'SQLite: a store from before the last change of %s is served correctly, or refused with the remedy',
    (what, commit) => upgraded({ what, commit }, `sqlite:${what}.sqlite`),
  )

  test
    .skipIf(elasticsearchUrl() === undefined)
    .each([...(SOAK ? [['derivation', programs?.derivation ?? ''] as const] : []), ['schema', schema] as const])(
    'Elasticsearch: a store from before the last change of %s is refused with the remedy, which works',
    async (what, commit) => {
      const elastic = openTestElastic()
      try {
        await upgraded({ what, commit }, `${elastic.url}/${elastic.prefix}`)
      } finally {
        await elastic.destroy()
      }
    },
  )
})
