import { Failure } from '#failure/failure.ts'
import { type Batch, type BatchEnd, type Bounds, type History, sizeOf, sumOfSizes } from './batch.ts'

/** History of the next batch that a writer holds. */
export type Appended = {
  readonly size: Bounds
  /** Throws Failure('defect') if the history belongs to another partition than what is held. */
  add(history: History): void
  /** All that is held; nothing is held from then on. */
  take(): History | undefined
}

const NOTHING: Bounds = { documents: 0, bytes: 0 }

export const appendedHistory = (): Appended => {
  let held: readonly History[] = []
  return {
    get size() {
      return held.map(sizeOf).reduce(sumOfSizes, NOTHING)
    },
    add: history => {
      const { filling, blocks } = history
      const { partition = filling.partition } = held[0]?.filling ?? {}
      if (filling.partition !== partition)
        throw new Failure(
          'defect',
          `History of block ${blocks[0]?.height} belongs to partition ${filling.partition}, but its batch to ${partition}.`,
        )
      held = [...held, history]
    },
    take: () => {
      const taken = held
      held = []
      return joined(taken)
    },
  }
}

const joined = (parts: readonly History[]): History | undefined => {
  const last = parts.at(-1)
  if (last === undefined || parts.length === 1) return last
  return {
    blocks: parts.flatMap(({ blocks }) => blocks),
    transactions: parts.flatMap(({ transactions }) => transactions),
    records: parts.flatMap(({ records }) => records),
    filling: last.filling,
  }
}

/** The batch of some history; `next` is the block after the checkpoint, where a batch without a block would begin. */
export const batchWith = (history: History, { end, changes }: BatchEnd, next: number): Batch => ({
  first: history.blocks[0]?.height ?? next,
  end,
  ...history,
  changes,
})
