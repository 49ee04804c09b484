import { beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '#failure/failure.ts'
import { createNode } from '#node/archive-node.ts'
import { copyStore } from '#store/sqlite/backup.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { describeCopy } from '#transfer/backup.ts'
import { restoreFile } from '#transfer/restore.ts'
import { SOAK } from '../support/processes/soak.ts'
import { ROOT } from '../support/root.ts'
import { dumpSqlite } from '../support/stores/dump.ts'
import { loadedFile } from '../support/stores/loaded.ts'
import { ARCHIVED, readSqlite } from '../support/stores/loading.ts'
import { testFolder } from '../support/test-folder.ts'

const HEIGHT = 60
/** Number of lengths of the copy at which the process is killed. */
const STEPS = SOAK ? 12 : 2
/** Calls from one kill to the next. */
const STRIDE = SOAK ? 1 : 3
/** More bytes than any file that SQLite writes before the copy. */
const BEFORE = 65_536

const folder = testFolder()
const [store, copy, place] = [join(folder, 'store'), join(folder, 'copy'), join(folder, 'restored')]
let whole: ReturnType<typeof dumpSqlite>

beforeAll(async () => {
  await Bun.write(store, readSqlite(await loadedFile(HEIGHT)))
  const loaded = openSqlite({ path: store })
  await loaded.keys.add({ id: 'key', hash: 'ab', name: 'wallet', perSecond: 1, perDay: 1, created: 1 })
  await loaded.close()
  whole = dumpSqlite(store)
})

const beside = (path: string): readonly string[] =>
  readdirSync(folder)
    .filter(name => join(folder, name).startsWith(path))
    .sort()
function clear(path: string): void {
  for (const name of beside(path)) rmSync(join(folder, name))
}

/** Runs the backup program and returns the reason of its end. Unexpected output is returned instead. */
async function backup({ call = 0, bytes = 0 }): Promise<'done' | 'killed' | string> {
  const program = join(ROOT, 'test/support/processes/backup-process.ts')
  const words = [program, store, copy, String(call), String(bytes)]
  const running = Bun.spawn([process.execPath, ...words], { stdout: 'ignore', stderr: 'pipe' })
  const [said, code] = await Promise.all([new Response(running.stderr).text(), running.exited])
  if (running.signalCode === (bytes > 0 ? 'SIGXFSZ' : 'SIGKILL')) return 'killed'
  return code === 0 ? 'done' : said
}

/** The result of a restore from the copy. */
async function restored(): Promise<string> {
  clear(place)
  const node = createNode({ urls: [ARCHIVED] })
  const how = { node, signal: new AbortController().signal, onProgress: () => undefined }
  try {
    await restoreFile(copy, place, how)
  } catch (error) {
    return String(error)
  } finally {
    node.close()
  }
  expect(dumpSqlite(place)).toEqual(whole)
  return 'whole'
}

/** The result of another backup to the same place. */
async function again() {
  const how = { signal: new AbortController().signal, onProgress: () => undefined }
  try {
    const describe = async (partial: string) => void (await describeCopy(partial, copy, how))
    const { height } = await copyStore({ path: store, name: store }, copy, { beforeNaming: describe })
    return { height }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { kind: error.kind, help: error.help }
  }
}

/** After a kill there is no copy or a complete one. The next run makes a copy, or reports that one exists. */
async function requireMended(where: string): Promise<void> {
  const isThere = existsSync(copy)
  expect([where, await restored()]).toEqual([where, isThere ? 'whole' : expect.stringContaining(`There is no ${copy}`)])
  expect([where, await again()]).toEqual([
    where,
    isThere ? { kind: 'usage', help: 'Name a file that does not exist yet, or remove this one.' } : { height: HEIGHT },
  ])
  expect([where, beside(copy)]).toEqual([where, ['copy', 'copy.manifest.json']])
  expect([where, await restored()]).toEqual([where, 'whole'])
}

test('backup: a kill before any file system call leaves no copy or a complete one, and the next run succeeds', async () => {
  let [kills, found] = [0, 0]
  for (let call = 1; ; call += STRIDE) {
    clear(copy)
    const end = await backup({ call })
    if (end !== 'killed') {
      expect(end).toBe('done')
      break
    }
    kills += 1
    if (existsSync(copy)) found += 1
    await requireMended(`call ${call}`)
  }
  // Some kills came before the copy got its name, and some after.
  expect(found).toBeGreaterThan(0)
  expect(kills).toBeGreaterThan(found + 2)
})

test('backup: a kill while SQLite writes the copy leaves none, and the next run succeeds', async () => {
  clear(copy)
  expect(await backup({})).toBe('done')
  const { size } = statSync(copy)
  for (let step = 1; step <= STEPS; step++) {
    clear(copy)
    const bytes = BEFORE + Math.floor(((size - BEFORE) * (step - 1)) / STEPS)
    expect([bytes, await backup({ bytes })]).toEqual([bytes, 'killed'])
    expect([bytes, existsSync(copy), beside(`${copy}.partial`).length > 0]).toEqual([bytes, false, true])
    await requireMended(`byte ${bytes}`)
  }
})
