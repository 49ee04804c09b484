import { Database } from 'bun:sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProofLevel } from '#chain/block.ts'
import { createCollector } from '#load/batches.ts'
import { load } from '#load/load.ts'
import type { LoadOptions } from '#load/session.ts'
import { createNode } from '#node/archive-node.ts'
import type { BlockSource } from '#node/port.ts'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { type Replay, serveReplay } from '#test/replay/serve.ts'
import { recording } from '../nodes/recording.ts'
import { ROOT } from '../root.ts'

/** The recorded chain as an archive, usable wherever a node's URL is: it loads faster than over HTTP from a node. */
export const ARCHIVED = `archive:${join(ROOT, 'test/chain/devnet/archive')}`

export const replayed = async (to?: number): Promise<Replay> =>
  serveReplay({ recording: await recording(), ...(to === undefined ? {} : { to }) })

/**
 * One garbage collector for all loads and audits of a process, which collects rarely: a test process keeps
 * whole chains alive, and each collection traverses all of them. Tests with processes of their own check that
 * a single command stays small.
 */
export const collect = createCollector(undefined, 500_000_000)

/** Loads up to the node's last irreversible block unless told otherwise, without logging. */
export const loadOnce = (
  node: BlockSource,
  store: Store,
  options: Partial<LoadOptions> = {},
): ReturnType<typeof load> =>
  load(
    { node, store },
    {
      once: true,
      signal: new AbortController().signal,
      onProgress: () => undefined,
      log: () => undefined,
      collect,
      ...options,
    },
  )

/** Loads up to the last irreversible block unless told otherwise. Returns the height reached. */
export async function loadFrom(
  url: string | readonly string[],
  store: Store,
  { prove = 'signed', ...options }: Partial<LoadOptions> & { readonly prove?: ProofLevel } = {},
): Promise<number> {
  const node = createNode({ urls: [url].flat(), prove })
  try {
    await store.create()
    return (await loadOnce(node, store, options)).height
  } finally {
    node.close()
  }
}

/** A SQLite store in a new folder: empty, or a copy of the file `from`. */
export async function temporarySqlite(from?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'iostlens-'))
  const path = join(folder, 'store.sqlite')
  if (from !== undefined) await Bun.write(path, readSqlite(from))
  const store: Store = openSqlite({ path })
  const destroy = async (): Promise<void> => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { store, path, destroy, [Symbol.asyncDispose]: destroy }
}

/** The content of a file together with its WAL, which another connection may have open. */
export function readSqlite(path: string): Uint8Array {
  const database = new Database(path, { readonly: true })
  try {
    return database.serialize()
  } finally {
    database.close()
  }
}
