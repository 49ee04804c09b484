import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { recordedBlocks } from '../nodes/recording.ts'
import { ROOT } from '../root.ts'
import { commitRuns } from './commit-runs.ts'
import { edition } from './edition.ts'

/** Blocks per batch. */
const RUN = 500

/**
 * Fills an empty store with the recorded chain up to a height, as a loader does. `lib`: the node's last
 * irreversible block.
 */
export async function fillFromRecording(
  store: Store,
  { to, lib = to }: { readonly to: number; readonly lib?: number },
): Promise<void> {
  const blocks = (await recordedBlocks()).slice(0, to + 1)
  const runs = Array.from({ length: Math.ceil(blocks.length / RUN) }, (_, at) => blocks.slice(at * RUN, (at + 1) * RUN))
  await commitRuns(store, runs, { lib })
}

let file: Promise<string> | undefined
let loaded: Promise<Store> | undefined

/**
 * Path of a SQLite file with the whole recorded chain, shared by all tests of these sources: read it or copy it only.
 */
export function loadedFile(): Promise<string> {
  file ??= wholeChain()
  return file
}

/** The store in that file, with the whole recorded chain. It is read-only. */
export function loadedStore(): Promise<Store> {
  loaded ??= loadedFile().then(path => openSqlite({ path, readonly: true }))
  return loaded
}

/** The cache of files with the whole chain, each in a folder named by the edition that made it. */
const KEPT = join(ROOT, '.cache/loaded')
const FILE = 'chain.sqlite'
const DAY_MS = 86_400_000

/** Path of the file of this edition, which is created if it does not exist. */
async function wholeChain(): Promise<string> {
  const folder = join(KEPT, edition())
  if (existsSync(folder)) {
    const now = new Date()
    utimesSync(folder, now, now)
  } else await makeWholeChain(folder)
  return join(folder, FILE)
}

/**
 * Several processes may run this at once: each fills its own folder, and one of them renames its folder to
 * the final name.
 */
async function makeWholeChain(folder: string): Promise<void> {
  mkdirSync(KEPT, { recursive: true })
  removeUnused()
  const made = mkdtempSync(`${folder}.`)
  const store = openSqlite({ path: join(made, FILE) })
  await fillFromRecording(store, { to: (await recordedBlocks()).length - 1 })
  await store.close()
  try {
    renameSync(made, folder)
  } catch (error) {
    rmSync(made, { recursive: true })
    // Another process was faster and made the same content.
    if (!existsSync(folder)) throw error
  }
}

/** Removes cached files that no test has opened for a day: other editions, and leftovers of processes that died. */
function removeUnused(): void {
  for (const name of readdirSync(KEPT)) {
    const path = join(KEPT, name)
    const used = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    if (Date.now() - used > DAY_MS) rmSync(path, { recursive: true, force: true })
  }
}
