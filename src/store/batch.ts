import { Failure } from '#failure/failure.ts'
import type { Batch, Published } from './port.ts'

/**
 * Throws Failure('defect') unless the batch begins right after `checkpoint` (undefined: at block 0), has exactly the
 * blocks it says, history of these blocks only, and one change per thing. A hole or a doubt must never be committed.
 */
export const checkBatch = (batch: Batch, checkpoint: Published | undefined): void => {
  const { first, end } = batch
  const expected = checkpoint === undefined ? 0 : checkpoint.height + 1
  const refuse = (problem: string): never => {
    throw new Failure('defect', `Batch of blocks ${first} to ${end.height}: ${problem}.`)
  }
  if (first !== expected) refuse(`must begin at ${expected}, right after the checkpoint`)
  if (end.height < first) refuse('ends before it begins')
  if (batch.blocks.length !== end.height - first + 1) refuse(`has ${batch.blocks.length} blocks`)
  for (const [at, block] of batch.blocks.entries())
    if (block.height !== first + at) refuse(`block ${block.height} stands where ${first + at} belongs`)
  const last = batch.blocks.at(-1)
  if (last?.hash !== end.hash || last.time !== end.time)
    refuse(`its end has hash ${end.hash}, its last block ${last?.hash}, and times must agree too`)
  for (const { id, height } of [...batch.transactions, ...batch.records])
    if (height < first || height > end.height) refuse(`document ${id} is of block ${height}`)
  const seen = new Map<string, Set<string>>()
  for (const { index, doc } of batch.changes) {
    const ids = seen.get(index.name) ?? new Set()
    if (ids.has(doc.id)) refuse(`two changes of ${index.name} '${doc.id}'`)
    seen.set(index.name, ids.add(doc.id))
  }
}
