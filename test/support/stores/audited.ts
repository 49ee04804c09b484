import { audit } from '#audit/audit.ts'
import { createFindings } from '#audit/compare.ts'
import { type RepairResult, repair } from '#audit/repair.ts'
import type { Node } from '#node/port.ts'
import type { Store, Writer } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { collect, temporarySqlite } from './loading.ts'

/** Audits a store with a new scratch file. Returns `index id field` of every finding, sorted. */
export async function audited(
  store: Store,
  { node, writer, sample = 0 }: { readonly node?: Node; readonly writer?: Writer; readonly sample?: number } = {},
) {
  const scratch = await temporarySqlite()
  const found = createFindings(Number.POSITIVE_INFINITY)
  try {
    const result = await audit(
      {
        store,
        scratch: scratch.store,
        clock: systemClock,
        ...(node === undefined ? {} : { node }),
        ...(writer === undefined ? {} : { writer }),
      },
      {
        ...{ sample, signal: new AbortController().signal, collect },
        ...{ onFinding: found.add, onProgress: () => undefined },
      },
    )
    const lines = found.shown.map(({ index, id, field }) => `${index} ${id} ${field}`)
    return { ...result, found: lines.sort(), findings: found.shown }
  } finally {
    await scratch.destroy()
  }
}

/** Takes a store over as a repair does, and releases it after the work. */
async function takeOver<T>(store: Store, work: (writer: Writer) => Promise<T>): Promise<T> {
  const identity = await store.identity()
  if (identity === undefined) throw new Error('Nothing is loaded.')
  const writer = await store.takeOver(identity, { repair: true })
  try {
    return await work(writer)
  } finally {
    await writer.release()
  }
}

/** Audits a store and repairs the differences, as `iostlens repair` does. */
export const repaired = (store: Store, options: { readonly node?: Node; readonly sample?: number } = {}) =>
  takeOver(store, writer => audited(store, { ...options, writer }))

/** Repairs the end of a store, as `iostlens repair` does. `held` may wrap the writer, to hold up its calls. */
export async function repairedEnd(
  store: Store,
  node: Node,
  held: (writer: Writer) => Writer = writer => writer,
): Promise<RepairResult> {
  const restored = await store.restore()
  return takeOver(store, writer =>
    repair({ store, writer: held(writer), node, restored, clock: systemClock }, new AbortController().signal, by =>
      audited(store, { node, writer: by }),
    ),
  )
}
