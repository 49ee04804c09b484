import { Failure } from '#failure/failure.ts'
import { type BlockRef, walkDown } from './branch.ts'
import { type Fetched, type FetchOptions, fetchBlock } from './fetch-block.ts'

/** Number of blocks fetched at once when many are missing. */
const AT_ONCE = 8

export type BranchSearch = {
  /** Blocks by hash; fetched blocks are added. */
  readonly known: Map<string, Fetched>
  readonly head: BlockRef
  readonly published: BlockRef
  /** Maximum size of the blocks fetched in one search, estimated in bytes. */
  readonly mostBytes: number
}

/**
 * Fetches the missing blocks between a head and the published block. Resolves with the whole branch, or with the reason
 * why there is none: `away` when the node does not have one of the blocks at the moment, `apart` when the branch does
 * not lead to the published block, `behind` when it is too large. Throws as `fetchBlock` does.
 */
export async function fetchBranch(
  options: FetchOptions,
  { known, head, published, mostBytes }: BranchSearch,
): Promise<readonly Fetched[] | 'away' | 'apart' | 'behind'> {
  let room = mostBytes
  let walk = walkDown(known, head, published)
  for (let round = 0; walk.type === 'missing'; round += 1) {
    const { at } = walk
    const below = round === 0 ? 0 : Math.min(AT_ONCE - 1, at.height - published.height - 1)
    const found = await fetchDown(options, at, below)
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

/**
 * Fetches a block and the node's blocks at the heights below it. Those may be of another branch, so only
 * parent hashes link them.
 */
async function fetchDown(options: FetchOptions, at: BlockRef, below: number): Promise<readonly Fetched[]> {
  const heights = Array.from({ length: below }, (_, more) => at.height - more - 1)
  const found = await Promise.all([
    fetchBlock(options, { hash: at.hash }),
    ...heights.map(height => fetchBlock(options, { height }).catch(nothing)),
  ])
  return found.filter(block => block !== undefined)
}

/** Ignores a failure: a block that turns out to be needed is requested by its hash. */
function nothing(error: unknown): undefined {
  if (!(error instanceof Failure)) throw error
}
