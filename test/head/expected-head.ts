import type { Shown } from '#head/shown.ts'
import { leadsTo } from './lines.ts'
import type { ForkStand } from './stand.ts'

/** A lower head than the one that is shown is that of a node that lags behind, for so long. */
const LAG_MS = 3_000
/** What nobody confirms is shown for so long. */
const AWAY_MS = 5_000
const MOST_BLOCKS = 600

/**
 * What the service is to show after a look at a node that answers everything, by what it showed before: the hash of the
 * tip, or why there is none.
 *
 * @param ageMs since a node confirmed what was shown
 */
export const expectedHead = async (stand: ForkStand, before: Shown, ageMs: number): Promise<string> => {
  const { made, hash } = stand.asked().stand.head
  const published = await stand.published()
  const tip = before.status === 'followed' ? before.tip : undefined
  if (tip !== undefined && made.height < tip.height && ageMs < LAG_MS) return tip.hash
  if (made.height < published.height || made.height > published.height + MOST_BLOCKS) return 'behind'
  if (leadsTo(stand.asked().stand.head, published)) return hash
  return tip !== undefined && ageMs < AWAY_MS ? tip.hash : 'apart'
}

export const tipOrStatus = (shown: Shown): string =>
  shown.status === 'followed' ? shown.tip.hash : shown.status
