import type { LoadedBlock } from '#chain/block.ts'
import { DERIVATION } from '#indices/registry.ts'
import { batchBuilder } from '#load/batches.ts'
import { openDeriver } from '#load/deriver.ts'
import { NOTHING_FILLED } from '#store/batch.ts'
import type { Store } from '#store/port.ts'

const UNBOUNDED = { documents: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }

/**
 * Fills an empty store with blocks from genesis on, one batch per run. `lib`: the last irreversible block the
 * node reported. `onCommitted` is awaited after each batch.
 */
export async function commitRuns(
  store: Store,
  runs: readonly (readonly LoadedBlock[])[],
  { lib, onCommitted }: { readonly lib: number; readonly onCommitted?: (height: number) => Promise<void> },
): Promise<void> {
  const genesis = runs[0]?.[0]?.block
  if (genesis === undefined) throw new Error('The recording has no block.')
  await store.create()
  const chainId = genesis.transactions[0]?.chainId ?? 0
  const writer = await store.takeOver({ chainId, genesis: genesis.hash, derivation: DERIVATION })
  const filling = () => writer.partitions?.filling ?? NOTHING_FILLED
  const derive = openDeriver({ writer, stored: await writer.openState(), partition: () => filling().partition })
  for (const run of runs) {
    const batch = batchBuilder(UNBOUNDED)
    let { documents } = filling()
    for (const block of run) {
      const each = await derive.derive(block)
      batch.add(each)
      documents += 1 + each.transactions.length + each.records.length
    }
    if (!batch.empty) {
      await writer.append(batch.takePart({ partition: 0, documents }))
      await writer.commit({ end: batch.end(lib), changes: derive.cut() })
    }
    await onCommitted?.(run.at(-1)?.block.height ?? 0)
  }
  await writer.release()
}
