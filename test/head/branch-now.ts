import type { HeadStatus } from '#head/shown.ts'
import type { ForkBlock } from './fork-node.ts'
import { aboveOf } from './lines.ts'
import type { ForkStand } from './stand.ts'

/** What is true of the chain at this moment. */
export type BranchNow = {
  /** The published height. */
  readonly height: number
  /** Published blocks above the base of the forks. */
  readonly stored: readonly ForkBlock[]
  /** The blocks above on the branch that the service shows; undefined: it is not known. */
  readonly above: readonly ForkBlock[] | undefined
  /** What answers with head=1 are to say of it. */
  readonly status: HeadStatus
}

/** The chain as it is published, and the branch of the tip that the service shows. */
export const branchNow = async ({
  forks,
  final,
  follower,
  published,
}: Pick<ForkStand, 'forks' | 'final' | 'follower' | 'published'>): Promise<BranchNow> => {
  const { height, hash } = await published()
  const stored = aboveOf(final().head, forks.base.made.height)
    .filter(({ made }) => made.height <= height)
    .toReversed()
  const shown = follower.shown()
  if (shown.status !== 'followed') return { height, stored, above: undefined, status: shown.status }
  if (shown.tip.height <= height) return { height, stored, above: [], status: 'followed' }
  const tip = forks.blocks.get(shown.tip.hash)
  const above = tip === undefined ? [] : aboveOf(tip, height).toReversed()
  return above[0]?.parent?.hash === hash
    ? { height, stored, above, status: 'followed' }
    : { height, stored, above: undefined, status: 'apart' }
}
