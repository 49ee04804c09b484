import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DERIVATION } from '#indices/registry.ts'
import { batchBuilder } from '#load/batch-builder.ts'
import { deriver } from '#load/deriver.ts'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { recordedBlocks } from './recording.ts'

/** Blocks of one batch. */
const RUN = 500
const UNBOUNDED = { documents: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }

/** Fills an empty store with the recorded chain up to a height, as a loader does; `lib` is what the node said then. */
export const fillFromRecording = async (
  store: Store,
  { to, lib = to }: { readonly to: number; readonly lib?: number },
): Promise<void> => {
  const blocks = (await recordedBlocks()).slice(0, to + 1)
  const genesis = blocks[0]?.block
  if (genesis === undefined) throw new Error('The recording has no block.')
  await store.create()
  const chainId = genesis.transactions[0]?.chainId ?? 0
  const writer = await store.takeOver({ chainId, genesis: genesis.hash, derivation: DERIVATION })
  const { filling } = writer
  const derive = deriver(writer, () => filling.partition)
  for (let from = 0; from < blocks.length; from += RUN) {
    const batch = batchBuilder(UNBOUNDED)
    await derive.derive(blocks.slice(from, from + RUN), async documents => batch.add(documents))
    await writer.commit(batch.build(derive.cut(), filling, lib))
    derive.settled()
  }
  await writer.release()
}

let loaded: Promise<Store> | undefined

/** The whole recorded chain in a SQLite file of its own: made once in a process, removed when it ends. */
export const loadedStore = (): Promise<Store> => {
  loaded ??= load()
  return loaded
}

const load = async (): Promise<Store> => {
  const folder = mkdtempSync(join(tmpdir(), 'iostlens-loaded-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const store = openSqlite({ path: join(folder, 'chain.sqlite') })
  await fillFromRecording(store, { to: (await recordedBlocks()).length - 1 })
  return store
}
