/** A block's place in its chain. */
export type Point = { readonly height: number; readonly hash: string }

/** A block and the one before it. */
export type Link = Point & { readonly parentHash: string }

/** Where a head leads to when one goes down from it by parent hashes. */
export type Walk<B extends Link> =
  /** To the published block: the blocks in order, the head last. */
  | { readonly type: 'whole'; readonly blocks: readonly B[] }
  /** To a block that is not known yet. */
  | { readonly type: 'missing'; readonly at: Point }
  /** To another block than the published one: the node is on another branch than the store. */
  | { readonly type: 'apart' }

/**
 * Blocks below the published one that are kept: readers may see an earlier height than the one that was read last, and
 * their rows must go on without a gap.
 */
const KEPT_BELOW = 64

/**
 * Goes from a head down to the published block, only by parent hashes: whatever was fetched in between, and from
 * whichever node, the blocks are of one branch. Known blocks right below the published one come with them.
 */
export const walkDown = <B extends Link>(
  known: ReadonlyMap<string, B>,
  head: Point,
  published: Point,
): Walk<B> => {
  const down: B[] = []
  let at = head
  while (at.height > published.height) {
    const block = known.get(at.hash)
    if (block === undefined) return { type: 'missing', at }
    // The hash covers the height, so this is a head that was given with a false one.
    if (block.height !== at.height) return { type: 'apart' }
    down.push(block)
    at = { height: at.height - 1, hash: block.parentHash }
  }
  if (at.height !== published.height || at.hash !== published.hash) return { type: 'apart' }
  for (let more = 0; more < KEPT_BELOW; more += 1) {
    const block = known.get(at.hash)
    if (block === undefined) break
    down.push(block)
    at = { height: at.height - 1, hash: block.parentHash }
  }
  return { type: 'whole', blocks: down.reverse() }
}

/** Blocks beside the branch that are kept: a branch that lost may win again (A → B → A). */
const KEPT_ASIDE = 256

/** The blocks that stay known: the branch, and of the others those that came last, as far as `bytes` leave room. */
export const keptOf = <B extends Link & { readonly bytes: number }>(
  known: ReadonlyMap<string, B>,
  branch: readonly B[],
  bytes: number,
): Map<string, B> => {
  const kept = new Map(branch.map(block => [block.hash, block]))
  let room = bytes - branch.reduce((sum, block) => sum + block.bytes, 0)
  const aside: B[] = []
  for (const block of [...known.values()].reverse()) {
    if (kept.has(block.hash)) continue
    room -= block.bytes
    if (room < 0 || aside.length === KEPT_ASIDE) break
    aside.push(block)
  }
  // In the order in which they came, the branch last.
  return new Map([...aside.reverse().map(block => [block.hash, block] as const), ...kept])
}
