import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { recordedBlocks } from '../nodes/recording.ts'
import { ROOT } from '../root.ts'
import { commitRuns } from './commit-runs.ts'
import { edition } from './edition.ts'

/** Blocks of one batch. */
const RUN = 500

/** Fills an empty store with the recorded chain up to a height, as a loader does; `lib` is what the node said then. */
export const fillFromRecording = async (
  store: Store,
  { to, lib = to }: { readonly to: number; readonly lib?: number },
): Promise<void> => {
  const blocks = (await recordedBlocks()).slice(0, to + 1)
  const runs = Array.from({ length: Math.ceil(blocks.length / RUN) }, (_, at) =>
    blocks.slice(at * RUN, (at + 1) * RUN),
  )
  await commitRuns(store, runs, { lib })
}

let file: Promise<string> | undefined
let loaded: Promise<Store> | undefined

/** Path of a SQLite file of the whole recorded chain that all tests of these sources share: it is only read, or copied. */
export const loadedFile = (): Promise<string> => {
  file ??= wholeChain()
  return file
}

/** The whole recorded chain in that file: it can only be read. */
export const loadedStore = (): Promise<Store> => {
  loaded ??= loadedFile().then(path => openSqlite({ path, readonly: true }))
  return loaded
}

/** Where files of the whole chain are kept, each in a folder that is named by the edition of what made it. */
const KEPT = join(ROOT, '.cache/loaded')
const FILE = 'chain.sqlite'
const DAY_MS = 86_400_000

/** Path of the file of this edition, made unless it is there. */
const wholeChain = async (): Promise<string> => {
  const folder = join(KEPT, edition())
  if (existsSync(folder)) {
    const now = new Date()
    utimesSync(folder, now, now)
  } else await makeWholeChain(folder)
  return join(folder, FILE)
}

/** Many processes may do so at once: each makes a folder of its own, and one of them gets the name. */
const makeWholeChain = async (folder: string): Promise<void> => {
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
    // Another process was faster, with the same content.
    if (!existsSync(folder)) throw error
  }
}

/** Removes what no test has opened for a day: other editions, and what a process that died left half made. */
const removeUnused = (): void => {
  for (const name of readdirSync(KEPT)) {
    const path = join(KEPT, name)
    const used = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    if (Date.now() - used > DAY_MS) rmSync(path, { recursive: true, force: true })
  }
}
