import { formatDate } from '#chain/time.ts'
import { balanceId } from '#indices/balance.ts'
import { seriesOf } from '#indices/series.ts'
import { type Entry, parseEntries } from '#indices/series-entry.ts'
import { tokens } from '#indices/token.ts'
import type { View } from '#store/port.ts'
import type { Context } from '../define.ts'
import { listStepHeights, requestedSteps } from '../find/days.ts'
import { readCandidateBonuses } from '../find/holdings.ts'
import { type Listing, stepListing } from '../find/listing.ts'
import { createHeightTest, findSeries, NO_FLOWS, partsInRuns, readFlows } from '../find/series.ts'
import { boundsOfSteps, type RangeOfSteps, type Step } from '../request/steps.ts'
import { exact, shape, sourced, stepFields } from './results.ts'
import { toAmount, toIost } from './values.ts'

/** Sums of one step of a producer's and its voters' rewards. */
export const rewardStep = shape({
  ...stepFields,
  contribute_made: exact(
    'Only with step: contribute earned for its blocks.',
    '仅在使用 step 时返回：出块所得的 contribute。',
  ),
  contribute_exchanged: exact(
    'Only with step: contribute that it exchanged for IOST.',
    '仅在使用 step 时返回：用于兑换 IOST 的 contribute。',
  ),
  exchanged: exact(
    'Only with step: IOST that it received for contribute.',
    '仅在使用 step 时返回：由 contribute 兑换得到的 IOST。',
  ),
  candidate_bonus: exact(
    'Only with step: what it withdrew of candidate bonuses for itself, its own half, in IOST.',
    '仅在使用 step 时返回：期间领取的候选人奖励中属于自己的一半（IOST）。',
  ),
  candidate_bonus_earned: sourced(
    'Only with step: what it earned of candidate bonuses for itself, withdrawn or not, in IOST: withdrawals, and the growth of what it could withdraw. null: not known, because the contract wrote no receipts then.',
    '仅在使用 step 时返回：期间所得的候选人奖励中属于自己的一半，无论是否已领取（IOST），即已领取的加上待领取的增量。null 表示当时合约没有收据，无法得知。',
  ),
  added_for_voters: exact(
    'Only with step: amount added for its voters, in IOST.',
    '仅在使用 step 时返回：为其投票者增加的数量（IOST）。',
  ),
  taken_by_voters: exact(
    'Only with step: what its voters withdrew, in IOST.',
    '仅在使用 step 时返回：投票者从中领取的数量（IOST）。',
  ),
})

type Sums = { exchanged: bigint; candidate: bigint; added: bigint; taken: bigint }
type StepOptions = RangeOfSteps & { readonly step: Step; readonly sort: 'asc' | 'desc' }

/** The rewards of a producer and its voters, in steps. */
export async function rewardSteps<D>(
  context: Context,
  producer: string,
  { step, sort, ...asked }: StepOptions,
): Promise<Listing<D>> {
  const { view } = context
  const steps = await requestedSteps(context, { step, ...boundsOfSteps(asked) })
  const heights = listStepHeights(steps)
  const [sums, contribute, bonuses, token] = await Promise.all([
    readRewardSums(view, producer, heights),
    readFlows(view, seriesOf.balance(balanceId('contribute', producer)), heights),
    readCandidateBonuses(view, producer, heights),
    view.get(tokens, 'contribute'),
  ])
  const decimal = token?.decimal ?? 0
  const rows = steps.map(({ first, isWhole }, at) => {
    const [before = NO_FLOWS, after = NO_FLOWS] = [contribute[at], contribute[at + 1]]
    const { exchanged, candidate, added, taken } = sums[at] ?? NONE
    return {
      date: formatDate(first),
      complete: isWhole,
      contribute_made: toAmount(after.gained - before.gained, decimal),
      contribute_exchanged: toAmount(after.lost - before.lost, decimal),
      exchanged: toIost(exchanged),
      candidate_bonus: toIost(candidate),
      candidate_bonus_earned: computeEarned(candidate, bonuses[at], bonuses[at + 1]),
      added_for_voters: toIost(added),
      taken_by_voters: toIost(taken),
    }
  })
  return stepListing(rows, sort, Object.keys(rewardStep.properties))
}

/** The growth of what can be withdrawn, with what was withdrawn; null: one of them is not known. */
const computeEarned = (withdrawn: bigint, before: bigint | null | undefined, after: bigint | null | undefined) =>
  before === null || after === null ? null : toIost(withdrawn + (after ?? 0n) - (before ?? 0n))

const NONE: Sums = { exchanged: 0n, candidate: 0n, added: 0n, taken: 0n }

/** Sums of a producer's rewards from each height (exclusive) to the next (inclusive). */
async function readRewardSums(view: View, producer: string, heights: readonly number[]): Promise<readonly Sums[]> {
  const sums = heights.slice(1).map(() => ({ ...NONE }))
  const [start = -1, end = -1] = [heights[0], heights.at(-1)]
  const series = await findSeries(view, seriesOf.rewards(producer))
  const [from, to] = (await series?.lastParts([createHeightTest(start), createHeightTest(end)])) ?? []
  if (series === undefined || to === undefined) return sums
  const stepOf = (height: number): Sums | undefined =>
    height <= start ? undefined : sums[heights.findIndex((last, at) => at > 0 && height <= last) - 1]
  for await (const parts of partsInRuns(series, [from?.part ?? 0, to.part]))
    for (const entry of parts.flatMap(part => parseEntries(part.entries, part.height)))
      addReward(stepOf(entry.height), entry)
  return sums
}

function addReward(sums: Sums | undefined, { change, more: [kind, other = '0'] }: Entry): void {
  if (sums === undefined) return
  switch (kind) {
    case 'exchange':
      sums.exchanged += change
      return
    case 'candidate':
      sums.candidate += change
      sums.added += BigInt(other)
      return
    case 'topup':
      sums.added += change
      return
    case 'voters':
      sums.taken += change
  }
}
