import { type RepairResult, repair } from '#audit/repair.ts'
import type { Node } from '#node/port.ts'
import type { Store, Writer } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { audited } from './audited.ts'

/**
 * Repairs the end of a store from a node, as `iostlens repair` does. `held` may wrap the writer, to hold up its calls.
 */
export async function repairedEnd(
  store: Store,
  node: Node,
  held: (writer: Writer) => Writer = writer => writer,
): Promise<RepairResult> {
  const restored = await store.restore()
  const identity = await store.identity()
  if (identity === undefined) throw new Error('Nothing is loaded.')
  const writer = await store.takeOver(identity, { repair: true })
  try {
    const parts = { store, writer: held(writer), node, restored, clock: systemClock }
    return await repair(parts, new AbortController().signal, by => audited(store, { node, writer: by }))
  } finally {
    await writer.release()
  }
}
