import { audit } from '#audit/audit.ts'
import { findings } from '#audit/compare.ts'
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
  const found = findings(Number.POSITIVE_INFINITY)
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

/** Audits a store and repairs the differences, as `iostlens repair` does. */
export async function repaired(store: Store, options: { readonly node?: Node; readonly sample?: number } = {}) {
  const identity = await store.identity()
  if (identity === undefined) throw new Error('Nothing is loaded.')
  const writer = await store.takeOver(identity, { repair: true })
  try {
    return await audited(store, { ...options, writer })
  } finally {
    await writer.release()
  }
}
