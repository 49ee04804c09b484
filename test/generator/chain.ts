import { Failure } from '#failure/failure.ts'
import { blockGas, blockMaker, type Made, type Parent } from './block.ts'
import type { Settings } from './settings.ts'
import { blockTime } from './time.ts'
import { worldOf } from './world.ts'

/** Blocks per piece. Pieces are made at once, and the hash before each piece is kept for the whole chain. */
const PIECE = 64
/** Pieces kept in memory. Clients request heads and transactions of the same blocks, several ranges at a time. */
const READY = 32
const NO_HASH = new Uint8Array(32)

/**
 * The generated chain. A block's content depends on its height alone, but its hash depends on all blocks
 * before, as on a real chain. The first request beyond the hashed blocks makes all blocks up to it, once.
 */
export function createChain(settings: Settings) {
  const world = worldOf(settings)
  const makeBlock = blockMaker(world)
  /** The hash before each piece, as far as it is known. */
  const known: Uint8Array[] = [NO_HASH]
  const ready = new Map<number, readonly Made[]>()

  const make = (piece: number, texts: boolean): readonly Made[] => {
    const blocks: Made[] = []
    const gas = piece === 0 ? 0 : blockGas(world, piece * PIECE - 1)
    let parent: Parent = { roots: [NO_HASH, NO_HASH, NO_HASH, known[piece] ?? NO_HASH], gas }
    for (let at = 0; at < PIECE; at += 1) {
      const made = makeBlock(piece * PIECE + at, parent, { texts })
      blocks.push(made)
      parent = made
    }
    known[piece + 1] ??= parent.roots[3]
    return blocks
  }
  const pieceOf = (piece: number): readonly Made[] => {
    const kept = ready.get(piece)
    if (kept !== undefined) return kept
    while (known.length <= piece) make(known.length - 1, false)
    const made = make(piece, true)
    ready.set(piece, made)
    for (const oldest of ready.keys()) {
      if (ready.size <= READY) break
      ready.delete(oldest)
    }
    return made
  }
  return {
    ...{ world, settings },
    /** Throws Failure 'usage' beyond the last block. */
    block: (height: number): Made => {
      const made = pieceOf(Math.floor(height / PIECE))[height % PIECE]
      if (made === undefined || height > settings.blocks)
        throw new Failure('usage', `Block ${height} is not one of 0 … ${settings.blocks}.`)
      return made
    },
    /** Nanoseconds since 1970. */
    timeOf: (height: number): string => blockTime(settings.seed, height),
    /** Height up to which hashes are known. */
    hashed: (): number => known.length * PIECE - 1,
  }
}
export type Chain = ReturnType<typeof createChain>
