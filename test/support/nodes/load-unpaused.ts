import type { ProofLevel } from '#chain/block.ts'
import type { LoadOptions } from '#load/session.ts'
import { createNode } from '#node/archive-node.ts'
import type { Store } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { idleClock } from '../clocks/idle-clock.ts'
import { loadOnce } from '../stores/loading.ts'

/** Loads without pauses after failures or old batches. Returns the height, or what was thrown. */
export async function loadUnpaused(
  urls: string | readonly string[],
  store: Store,
  { prove = 'signed', ...options }: Partial<LoadOptions> & { readonly prove?: ProofLevel } = {},
): Promise<unknown> {
  const node = createNode({ urls: [urls].flat(), clock: idleClock(), prove })
  try {
    await store.create()
    const clock = { ...systemClock, random: () => 0, elapsed: () => 0 }
    return (await loadOnce(node, store, { clock, ...options })).height
  } catch (error) {
    return error
  } finally {
    node.close()
  }
}
