import { Failure } from '#failure/failure.ts'
import type { Batch, History, Published } from './port.ts'

/** The last block that was stored ahead of a batch. */
export type Ahead = Pick<Published, 'height' | 'hash' | 'time'>

/**
 * Throws Failure('defect') unless the batch begins right after `checkpoint` (undefined: at block 0), has exactly the
 * blocks it says, those up to `ahead` stored before, history of these blocks only, and one change per thing. A hole or a
 * doubt must never be committed.
 */
export const checkBatch = (batch: Batch, checkpoint: Published | undefined, ahead?: Ahead): void => {
  const { first, end } = batch
  const expected = checkpoint === undefined ? 0 : checkpoint.height + 1
  const refuse = (problem: string): never => {
    throw new Failure('defect', `Batch of blocks ${first} to ${end.height}: ${problem}.`)
  }
  if (first !== expected) refuse(`must begin at ${expected}, right after the checkpoint`)
  if (end.height < first) refuse('ends before it begins')
  const from = ahead === undefined ? first : ahead.height + 1
  if (batch.blocks.length !== end.height - from + 1) refuse(`has ${batch.blocks.length} blocks`)
  checkRun(batch, from, refuse)
  const last = batch.blocks.at(-1) ?? ahead
  if (last?.hash !== end.hash || last.time !== end.time)
    refuse(
      `its end has the hash ${end.hash}, but its last block has ${last?.hash}; the times must agree, too`,
    )
  const seen = new Map<string, Set<string>>()
  for (const { index, doc } of batch.changes) {
    const ids = seen.get(index.name) ?? new Set()
    if (ids.has(doc.id)) refuse(`two changes of ${index.name} '${doc.id}'`)
    seen.set(index.name, ids.add(doc.id))
  }
}

/** Throws Failure('defect') unless history begins with block `from` and is whole and of its blocks only. */
export const checkHistory = (history: History, from: number): void =>
  checkRun(history, from, problem => {
    throw new Failure('defect', `History of blocks from ${from} on: ${problem}.`)
  })

const checkRun = (
  { blocks, transactions, records }: Omit<History, 'filling'>,
  from: number,
  refuse: (problem: string) => void,
): void => {
  for (const [at, block] of blocks.entries())
    if (block.height !== from + at) refuse(`block ${block.height} is at the position of block ${from + at}`)
  const until = from + blocks.length
  for (const docs of [transactions, records])
    for (const { id, height } of docs)
      if (height < from || height >= until) refuse(`document ${id} is of block ${height}`)
}
