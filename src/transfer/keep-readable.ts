import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import type { Audit } from '#store/port.ts'

/** Looks into each index: Elasticsearch lets go of a view of one that nobody has read for half an hour. */
export const keepReadable = async (audit: Pick<Audit, 'existing'>): Promise<void> => {
  for (const index of [...historyIndices, ...stateIndices] as readonly AnyIndex[])
    await audit.existing(index, ['-'])
}
