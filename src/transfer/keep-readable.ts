import { type AnyIndex, historyIndices, stateIndices } from '#indices/registry.ts'
import type { Audit } from '#store/port.ts'

/** Reads from each index: Elasticsearch closes a point in time that nobody has used for half an hour. */
export async function keepReadable(audit: Pick<Audit, 'existing'>): Promise<void> {
  for (const index of [...historyIndices, ...stateIndices] as readonly AnyIndex[]) await audit.existing(index, ['-'])
}
