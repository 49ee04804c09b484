import type { HeadStatus } from '#head/head-state.ts'
import type { ForkBlock } from './fork-node.ts'
import { aboveOf } from './lines.ts'
import type { ForkStand } from './stand.ts'

/** The current state of the chain, as answers must show it. */
export type BranchNow = {
  /** The published height. */
  readonly height: number
  /** Published blocks above the base of the forks. */
  readonly stored: readonly ForkBlock[]
  /** The blocks above the published height on the branch that the service shows; undefined: the branch is unknown. */
  readonly above: readonly ForkBlock[] | undefined
  /** The status of the branch that answers with head=1 must have. */
  readonly status: HeadStatus
}

/** The published chain, and the branch of the tip that the service shows. */
export async function branchNow({
  forks,
  final,
  follower,
  published,
}: Pick<ForkStand, 'forks' | 'final' | 'follower' | 'published'>): Promise<BranchNow> {
  const { height, hash } = await published()
  const stored = aboveOf(final().head, forks.base.made.height)
    .filter(({ made }) => made.height <= height)
    .toReversed()
  const shown = follower.current()
  if (shown.status !== 'followed') return { height, stored, above: undefined, status: shown.status }
  if (shown.tip.height <= height) return { height, stored, above: [], status: 'followed' }
  const tip = forks.blocks.get(shown.tip.hash)
  const above = tip === undefined ? [] : aboveOf(tip, height).toReversed()
  return above[0]?.parent?.hash === hash
    ? { height, stored, above, status: 'followed' }
    : { height, stored, above: undefined, status: 'apart' }
}
