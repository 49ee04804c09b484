import { Failure } from '#failure/failure.ts'
import { type Point, walkDown } from './branch.ts'
import { type Asked, type Fetched, fetchBlock } from './fetch-block.ts'

/** Blocks that are fetched at once when many are missing. */
const AT_ONCE = 8

export type Search = {
  /** Blocks by their hashes; those that are fetched are added. */
  readonly known: Map<string, Fetched>
  readonly head: Point
  readonly published: Point
  /** Fetched for one search at most, estimated. */
  readonly mostBytes: number
}

/**
 * Fetches what is missing between a head and the published block; the whole branch, or why there is none: `away` when the
 * node does not have a block of it at this moment, `apart`, `behind` when it is too large. Throws as `fetchBlock` does.
 */
export const fetchBranch = async (
  asked: Asked,
  { known, head, published, mostBytes }: Search,
): Promise<readonly Fetched[] | 'away' | 'apart' | 'behind'> => {
  let room = mostBytes
  let walk = walkDown(known, head, published)
  for (let round = 0; walk.type === 'missing'; round += 1) {
    const { at } = walk
    const below = round === 0 ? 0 : Math.min(AT_ONCE - 1, at.height - published.height - 1)
    const found = await fetchDown(asked, at, below)
    for (const block of found) {
      if (!known.has(block.hash)) room -= block.bytes
      known.set(block.hash, block)
    }
    if (room < 0) return 'behind'
    if (!known.has(at.hash)) return 'away'
    walk = walkDown(known, head, published)
  }
  return walk.type === 'whole' ? walk.blocks : 'apart'
}

/** A block, and what the node has at the heights below it: maybe of another branch, so only parent hashes lead to it. */
const fetchDown = async (asked: Asked, at: Point, below: number): Promise<readonly Fetched[]> => {
  const heights = Array.from({ length: below }, (_, more) => at.height - more - 1)
  const found = await Promise.all([
    fetchBlock(asked, { hash: at.hash }),
    ...heights.map(height => fetchBlock(asked, { height }).catch(nothing)),
  ])
  return found.filter(block => block !== undefined)
}

/** A block that is needed is asked for by its hash. */
const nothing = (error: unknown): undefined => {
  if (!(error instanceof Failure)) throw error
}
