import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { recordedBlocks } from '../nodes/recording.ts'
import { ROOT } from '../root.ts'
import { commitRuns } from './commit-runs.ts'
import { loadFrom, replayed } from './loading.ts'

const RUN = 500

/** Fills an empty store with the recorded chain. `lib`: the node's last irreversible block. */
export async function fillFromRecording(
  store: Store,
  { to, lib = to }: { readonly to: number; readonly lib?: number },
): Promise<void> {
  const blocks = (await recordedBlocks()).slice(0, to + 1)
  const runs = Array.from({ length: Math.ceil(blocks.length / RUN) }, (_, at) => blocks.slice(at * RUN, (at + 1) * RUN))
  await commitRuns(store, runs, { lib })
}

const END = 4851

const files = new Map<number, Promise<string>>()
let loaded: Promise<Store> | undefined

/**
 * Path of a SQLite file with the recorded chain up to a height, loaded over HTTP from a node with all signatures proved.
 * All tests of these sources share it: read it, or begin with a copy, `temporarySqlite(await loadedFile(860))`.
 */
export function loadedFile(to = END): Promise<string> {
  const file = files.get(to) ?? requireFile(to)
  files.set(to, file)
  return file
}

/** The store in the file with the whole recorded chain. It is read-only. */
export function loadedStore(): Promise<Store> {
  loaded ??= loadedFile().then(path => openSqlite({ path, readonly: true }))
  return loaded
}

/**
 * The files that determine what is stored of the recorded chain, by the layer table of src/README.md. A
 * change of an action or of a reference text needs no new load. Bun's glob patterns do not support
 * alternatives that contain a slash.
 */
const PATTERNS = [
  'src/{failure,time,chain,derive,node,store,load}/**/*',
  'indices/**/*',
  'test/{support,replay,chain}/**/*',
  '{bun.lock,package.json}',
]

/** SHA-256 of everything that determines what is stored of the recorded chain: sources, recording, packages and Bun. */
export function edition(root = ROOT): string {
  const hash = new Bun.CryptoHasher('sha256')
  const add = (part: string | Uint8Array): void => {
    const bytes = Buffer.from(part)
    hash.update(`${bytes.length}\n`).update(bytes)
  }
  add(Bun.version_with_sha)
  const files = PATTERNS.flatMap(pattern => [...new Bun.Glob(pattern).scanSync({ cwd: root, dot: true })])
  for (const file of files.filter(name => !name.endsWith('.test.ts')).sort()) {
    add(file)
    add(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

/** The cache of files, in a folder for each edition of the sources. */
const KEPT = join(ROOT, '.cache/loaded')
const FILE = 'chain.sqlite'
const DAY_MS = 86_400_000

/** Path of a file of this edition. The first of several processes fills it, and the others wait. */
async function requireFile(to: number): Promise<string> {
  const folder = join(KEPT, edition())
  const own = join(folder, `to-${to}`)
  mkdirSync(folder, { recursive: true })
  const now = new Date()
  utimesSync(folder, now, now)
  if (!existsSync(own)) {
    using _lock = await lockFolder(folder)
    if (!existsSync(own)) await fillFolder(own, to)
  }
  return join(own, FILE)
}

/** A lock that ends with its process, because SQLite holds it. */
async function lockFolder(folder: string): Promise<Disposable> {
  const lock = new Database(join(folder, 'lock'))
  const isFree = (): boolean => {
    try {
      lock.run('BEGIN EXCLUSIVE')
      return true
    } catch {
      return false
    }
  }
  // A load takes longer than `until` waits on a busy machine.
  while (!isFree()) await Bun.sleep(50)
  return { [Symbol.dispose]: () => lock.close() }
}

async function fillFolder(folder: string, to: number): Promise<void> {
  removeUnused()
  const unfinished = `${folder}-unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished)
  await using node = await replayed(to)
  const store = openSqlite({ path: join(unfinished, FILE) })
  const height = await loadFrom(node.url, store)
  await store.close()
  if (height !== to) throw new Error(`The load ended at block ${height}, not at ${to}.`)
  renameSync(unfinished, folder)
}

/** Removes the folders of editions that no test has used for a day. */
function removeUnused(): void {
  for (const name of readdirSync(KEPT)) {
    const path = join(KEPT, name)
    const used = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    if (Date.now() - used > DAY_MS) rmSync(path, { recursive: true, force: true })
  }
}
