import type { ProofLevel } from '#chain/proof.ts'
import type { Node } from '#node/port.ts'
import type { Store, Writer } from '#store/port.ts'
import type { RestoreOutcome } from '#store/restored.ts'
import type { Clock } from '#time/clock.ts'
import { type AlignResult, align } from './align.ts'
import type { AuditResult } from './audit.ts'

type Parts = {
  readonly store: Store
  readonly writer: Writer
  readonly node?: Node
  /** Proof required of the node's blocks; absent: the level that the store has recorded for its own. */
  readonly prove?: ProofLevel
  /** The state of the record of the store's end before the takeover. */
  readonly restored?: RestoreOutcome
  readonly clock: Pick<Clock, 'now'>
}

/** The result of a repair. `audited` absent: the end was corrected, the rest was not checked. */
export type RepairResult = { readonly aligned: AlignResult; readonly audited?: AuditResult }

/**
 * Repairs a store. It corrects the end first and stops there if batches were undone or only the record of the
 * end was wrong. Otherwise it checks all documents with `auditAll`. A store that was closed for the repair is
 * reopened if everything could be derived again.
 */
export async function repair(
  parts: Parts,
  signal: AbortSignal,
  auditAll: (writer: Writer) => Promise<AuditResult>,
): Promise<RepairResult> {
  const found = await align(parts, signal)
  const isRestored = parts.restored === 'exact' && found.way === 'right'
  const aligned: AlignResult = isRestored ? { ...found, way: 'settled' } : found
  const { way, identity, end } = aligned
  if (way === 'settled' || way === 'back') return { aligned }
  const audited = await auditAll(parts.writer)
  if (way === 'closed' && audited.complete) await parts.writer.settle({ identity, end, open: true })
  return { aligned, audited }
}
