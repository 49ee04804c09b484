import { audit } from '#audit/audit.ts'
import { type RepairResult, repair } from '#audit/repair.ts'
import type { Node } from '#node/port.ts'
import type { Store, Writer } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { collect, temporarySqlite } from './loading.ts'

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
  const signal = new AbortController().signal
  const scratch = await temporarySqlite()
  const writer = await store.takeOver(identity, { repair: true })
  try {
    return await repair({ store, writer: held(writer), node, restored, clock: systemClock }, signal, by =>
      audit(
        { store, scratch: scratch.store, node, writer: by, clock: systemClock },
        { sample: 0, signal, collect, onFinding: () => undefined, onProgress: () => undefined },
      ),
    )
  } finally {
    await writer.release()
    await scratch.destroy()
  }
}
