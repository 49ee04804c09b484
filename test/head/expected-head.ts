import type { HeadState } from '#head/head-state.ts'
import { leadsTo } from './lines.ts'
import type { ForkStand } from './stand.ts'

/** For this long, a head lower than the shown one is treated as that of a lagging node. */
const LAG_MS = 3_000
/** For this long, a head is shown without a confirmation by a node. */
const AWAY_MS = 5_000
const MOST_BLOCKS = 600

/**
 * The expected head after a poll of a node that answers everything, given the head shown before: the hash of
 * the tip, or the reason why there is none.
 *
 * @param ageMs time since a node confirmed the shown head
 */
export async function expectedHead(stand: ForkStand, before: HeadState, ageMs: number): Promise<string> {
  const { made, hash } = stand.asked().stand.head
  const published = await stand.published()
  const tip = before.status === 'followed' ? before.tip : undefined
  if (tip !== undefined && made.height < tip.height && ageMs < LAG_MS) return tip.hash
  if (made.height < published.height || made.height > published.height + MOST_BLOCKS) return 'behind'
  if (leadsTo(stand.asked().stand.head, published)) return hash
  return tip !== undefined && ageMs < AWAY_MS ? tip.hash : 'apart'
}

export const tipOrStatus = (shown: HeadState): string => (shown.status === 'followed' ? shown.tip.hash : shown.status)
