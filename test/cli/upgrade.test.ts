import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DERIVATION } from '#indices/registry.ts'
import type { Replay } from '../replay/serve.ts'
import { witness } from '../support/oracle/witness.ts'
import { type CliFolder, cliFolder, type Outcome, spawnIn } from '../support/processes/cli-process.ts'
import { BINARY } from '../support/processes/program.ts'
import { runTool } from '../support/processes/run-tool.ts'
import { SOAK } from '../support/processes/soak.ts'
import { ROOT } from '../support/root.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { fillFromRecording } from '../support/stores/loaded.ts'
import { replayed } from '../support/stores/loading.ts'
import { until } from '../support/wait.ts'
import { addKey, damage, expectEnd, loadedFolder, stop } from './folder.ts'

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
const schema = `${lastChange('src/store/elastic/schema/mappings.ts', '-G[^_]SCHEMA = [0-9]')}^`
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
      await using elastic = openTestElastic()
      await upgraded({ what, commit }, `${elastic.url}/${elastic.prefix}`)
    },
  )
})

const SERVED = 60

const changeDerivation = (folder: CliFolder, from: number, to: number): void =>
  damage(
    folder,
    `UPDATE meta SET value = replace(value, '"derivation":${from}', '"derivation":${to}') WHERE key = 'identity'`,
  )

// A list added in this version has no rows in older documents, so an answer from it would be wrong.
test('documents of another derivation version are named, refused, and the remedy is named', async () => {
  await using folder = await loadedFolder(SERVED)
  changeDerivation(folder, DERIVATION, DERIVATION - 1)
  const found = `documents: different: derivation version ${DERIVATION - 1}; expected ${DERIVATION}`
  await expectEnd(folder, ['indices', 'check'], 3, found)
  for (const command of ['status', 'verify'])
    await expectEnd(folder, [command], 3, /documents.*iostlens indices migrate/s)
})

/**
 * A running service whose store becomes that of another version, as after the migration of a newer program. `other`
 * makes it another version's, and `own` this version's again.
 */
async function checkServing(folder: CliFolder, at: readonly string[], other: () => unknown, own: () => unknown) {
  const key = await addKey(folder, ['--per-second', '1000000', '--per-day', '1000000000', ...at])
  const service = folder.start(['serve', '--listen', '127.0.0.1:0', ...at])
  const url = await service.firstLine
  const overview = () => fetch(`${url}/api/base/get-overview?apikey=${key}`)
  const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status
  expect([(await overview()).status, await statusOf('/ready')]).toEqual([200, 200])
  await other()
  // No answer is from the documents of the other version.
  await until(async () => (await overview()).status === 503)
  for (let asked = 0; asked < 10; asked += 1) expect([asked, (await overview()).status]).toEqual([asked, 503])
  await service.logs('restart with that one')
  const ready = await fetch(`${url}/ready`)
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('restart with the new version')])
  expect(service.logged()).not.toContain('because of a bug')
  await expectEnd(folder, ['serve', '--listen', '127.0.0.1:0', ...at], 3, 'indices migrate')
  await own()
  await until(async () => (await overview()).status === 200 && (await statusOf('/ready')) === 200)
  await service.logs('The store can be used again.')
}

test('serve: a store whose documents become those of another derivation is refused until a restart', async () => {
  await using folder = await loadedFolder(SERVED)
  const change = (from: number, to: number) => () => changeDerivation(folder, from, to)
  await checkServing(folder, [], change(DERIVATION, DERIVATION + 1), change(DERIVATION + 1, DERIVATION))
})

test('serve: a store whose tables become those of another version is refused until a restart', async () => {
  await using folder = await loadedFolder(SERVED)
  const set = (value: string) => () => damage(folder, `UPDATE meta SET value = ${value} WHERE key = 'schema'`)
  await checkServing(folder, [], set("value || 'x'"), set("rtrim(value, 'x')"))
})

test.skipIf(elasticsearchUrl() === undefined)('serve: indices of another edition are refused', async () => {
  await using elastic = openTestElastic()
  const { store, url, prefix } = elastic
  await using folder = await cliFolder()
  /** Changes the edition in the published record. */
  const change = (changed: (edition: string) => string) => async () => {
    const path = `${url}/${prefix}-meta/_doc/published`
    type Stored = { readonly _version: number; readonly _source: { readonly body: string } }
    const { _source, _version } = (await ask('GET', path)) as Stored
    const body = JSON.parse(_source.body)
    await ask('PUT', `${path}?refresh=true&version=${_version}&version_type=external_gte`, {
      body: JSON.stringify({ ...body, edition: changed(body.edition) }),
    })
  }
  await fillFromRecording(store, { to: SERVED })
  const [other, own] = [change(edition => `${edition}x`), change(edition => edition.slice(0, -1))]
  await checkServing(folder, ['--store', `${url}/${prefix}`], other, own)
})
