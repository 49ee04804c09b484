/** Largest range of getBlockTxsByContract: its ends may be 100 apart (go-iost rpc). */
const LARGEST = 101
/** Before anything is known of the blocks' sizes. */
const FIRST = 5

/** How many blocks are asked for at once, from the size of the answers before. */
export type RangeSize = {
  next(): number
  /** Notes that a range of so many blocks came as so many characters. */
  note(blocks: number, letters: number): void
  /** A range of so many blocks was over the limit. */
  tooLarge(blocks: number): void
  /** The node knows no bulk calls: blocks are asked for one by one from now on. */
  noBulk(): void
  bulk(): boolean
}

/** Ranges whose answers have about `targetBytes`: they shrink at once when blocks grow, and grow at most twofold. */
export const createRangeSize = (targetBytes: number): RangeSize => {
  let size = FIRST
  let bulk = true
  return {
    next: () => size,
    note: (blocks, letters) => {
      const fitting = Math.floor((targetBytes * blocks) / Math.max(1, letters))
      size = Math.max(1, Math.min(LARGEST, fitting, size * 2))
    },
    tooLarge: blocks => {
      size = Math.max(1, Math.min(size, Math.floor(blocks / 2)))
    },
    noBulk: () => {
      bulk = false
    },
    bulk: () => bulk,
  }
}
