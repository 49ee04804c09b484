/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getRewardHistory } from '#actions/get-reward-history.ts'
import { named, type Steps, stepsSince } from '../format/steps.ts'
import type { Html, Visit } from '../page.ts'
import { Card } from './card.tsx'
import { OverTime } from './over-time.tsx'
import { Plot } from './plot.tsx'

type Row = AnswerOf<typeof getRewardHistory>['rewards'][number]
type RewardStep = Extract<Row, { readonly exchanged: string }>

/** The rewards and withdrawals of a producer and its voters, by steps, oldest first. */
export type RewardHistory = {
  /** Time of the first reward, ISO-8601 UTC. */
  readonly since: string
  readonly steps: Steps
  readonly rows: readonly RewardStep[]
}

const isStep = (row: Row): row is RewardStep => 'exchanged' in row

/** The rewards of a producer since its first one; undefined: it has none yet. */
export const rewardsSince = async (visit: Visit, producer: string): Promise<RewardHistory | undefined> => {
  const { rewards } = await visit.ask(getRewardHistory, { producer, sort: 'asc', page: '1', size: '1' })
  const first = rewards.find((row): row is Exclude<Row, RewardStep> => !isStep(row))
  if (first === undefined) return undefined
  const steps = stepsSince(visit, first.created_at)
  const history = await visit.ask(getRewardHistory, { producer, ...steps })
  return { since: first.created_at, steps, rows: named(steps.step, history.rewards.filter(isStep).toReversed()) }
}

/** All figures that can have a plot or a column of the table. */
const FIGURES = [
  {
    title: { en: 'Paid for blocks made (IOST)', zh: '出块所得（IOST）' },
    head: ['For blocks', '出块所得'],
    value: (row: RewardStep) => row.exchanged,
  },
  {
    title: { en: 'Own half of candidate bonuses (IOST)', zh: '候选人奖励中归自己的一半（IOST）' },
    head: ['As candidate', '候选人奖励'],
    value: (row: RewardStep) => row.candidate_bonus,
  },
  {
    title: { en: 'Added for voters (IOST)', zh: '为投票者增加（IOST）' },
    head: ['For voters', '为投票者增加'],
    value: (row: RewardStep) => row.added_for_voters,
  },
  {
    title: { en: 'Withdrawn by voters (IOST)', zh: '投票者已领取（IOST）' },
    head: ['Withdrawn', '投票者领取'],
    value: (row: RewardStep) => row.taken_by_voters,
  },
] as const

type RewardProps = { readonly visit: Visit; readonly history: RewardHistory | undefined }

/** Rewards as plots, one of each kind that is not always zero, with the exact figures in a collapsed table. */
export const RewardsOverTime = ({ visit, history }: RewardProps): Html => {
  if (history === undefined) return ''
  const { steps, rows } = history
  const isGiven = ({ value }: (typeof FIGURES)[number]) => rows.some(row => value(row) !== '0')
  return (
    <Card visit={visit} id="rewards" title={visit.say({ en: 'Rewards over time', zh: '奖励走势' })}>
      <OverTime
        visit={visit}
        step={steps.step}
        rows={rows}
        Plotted={Plot}
        figures={FIGURES.filter(isGiven)}
        others={FIGURES.filter(figure => !isGiven(figure))}
      />
    </Card>
  )
}
