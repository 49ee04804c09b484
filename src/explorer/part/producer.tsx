/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import type { getProducerVotes } from '#actions/get-producer.ts'
import { getRewardHistory } from '#actions/get-reward.ts'
import { countDecimals } from '../format/amount.ts'
import { nameSteps, type Steps, selectStepsSince } from '../format/period.ts'
import { APPROVED, describeProducerStatus, type StatusOfProducer } from '../format/state.ts'
import type { Html, Props, Visit } from '../page.ts'
import { Change, Day } from './amount.tsx'
import { alignNumbers, FoldedRows } from './list.tsx'
import { ChangePlot, FigurePlot, LevelPlot, OverTime, Plot } from './plot.tsx'
import { Card } from './section.tsx'

type ProducerStatusProps = { readonly visit: Pick<Visit, 'say'>; readonly of: StatusOfProducer }

/** Whether a producer is approved, a candidate, and online. */
export const ProducerStatus = ({ visit: { say }, of }: ProducerStatusProps): Html => (
  <span class={`badge ${chooseTone(of)}`.trimEnd()} safe>
    {say(describeProducerStatus(of))}
  </span>
)

function chooseTone({ status, isProducer, online }: StatusOfProducer): string {
  if (status !== APPROVED) return 'warn'
  if (!isProducer) return ''
  return online ? 'good' : 'warn'
}

type RewardRow = AnswerOf<typeof getRewardHistory>['rewards'][number]
type RewardStep = Extract<RewardRow, { readonly exchanged: string }>

/** The rewards and withdrawals of a producer and its voters, by steps, oldest first. */
export type RewardHistory = {
  /** Time of the first reward, ISO-8601 UTC. */
  readonly since: string
  readonly steps: Steps
  readonly rows: readonly RewardStep[]
}

const isStep = (row: RewardRow): row is RewardStep => 'exchanged' in row

/** The rewards of a producer since its first one; undefined: it has none yet. */
export async function readRewardHistory(visit: Visit, producer: string): Promise<RewardHistory | undefined> {
  const { rewards } = await visit.ask(getRewardHistory, { producer, sort: 'asc', page: '1', size: '1' })
  const first = rewards.find((row): row is Exclude<RewardRow, RewardStep> => !isStep(row))
  if (first === undefined) return undefined
  const steps = selectStepsSince(visit, first.created_at)
  const history = await visit.ask(getRewardHistory, { producer, ...steps })
  return { since: first.created_at, steps, rows: nameSteps(steps.step, history.rewards.filter(isStep).toReversed()) }
}

/** The kinds of rewards, each with the title of its plot. */
const REWARDS: readonly (readonly [en: string, zh: string, value: (row: RewardStep) => string, title: Text])[] = [
  ['For blocks', '出块所得', row => row.exchanged, { en: 'Paid for blocks made (IOST)', zh: '出块所得（IOST）' }],
  [
    'As candidate',
    '候选人奖励',
    row => row.candidate_bonus,
    { en: 'Own half of candidate bonuses (IOST)', zh: '候选人奖励中归自己的一半（IOST）' },
  ],
  [
    'For voters',
    '为投票者增加',
    row => row.added_for_voters,
    { en: 'Added for voters (IOST)', zh: '为投票者增加（IOST）' },
  ],
  [
    'Withdrawn',
    '投票者领取',
    row => row.taken_by_voters,
    { en: 'Withdrawn by voters (IOST)', zh: '投票者已领取（IOST）' },
  ],
]

/** Rewards as plots, one of each kind that is not always zero, with the exact figures in a collapsed table. */
export function RewardsOverTime({ visit, history }: Props<{ history: RewardHistory | undefined }>): Html {
  if (history === undefined) return ''
  const { steps, rows } = history
  const isPlotted = ([, , value]: (typeof REWARDS)[number]): boolean => rows.some(row => value(row) !== '0')
  const others = REWARDS.filter(kind => !isPlotted(kind)).map(([en, zh, value]) => [en, zh, value] as const)
  const figures = [...REWARDS.filter(isPlotted), ...others]
  return (
    <Card visit={visit} id="rewards" title={{ en: 'Rewards over time', zh: '奖励走势' }}>
      <OverTime visit={visit} step={steps.step} rows={rows} Plotted={Plot} figures={figures} />
    </Card>
  )
}

/** A producer's votes by day, oldest first. */
export type VoteDays = AnswerOf<typeof getProducerVotes>['days']

type VoteDaysProps = { readonly visit: Pick<Visit, 'say' | 'lang' | 'site'>; readonly days: VoteDays }

/** The votes at the end of each day and the daily changes, as plots and as a table. */
export function VotesByDay({ visit, days }: VoteDaysProps): Html {
  const changeDecimals = countDecimals(days.map(({ change }) => change))
  return (
    <Card visit={visit} id="votes-by-day" title={{ en: 'Votes over time', zh: '票数走势' }}>
      <FigurePlot
        visit={visit}
        title={{ en: 'Votes (IOST)', zh: '票数（IOST）' }}
        rows={days}
        value={({ votes }) => votes}
        Plotted={LevelPlot}
      />
      <FigurePlot
        visit={visit}
        title={{ en: 'Daily change in votes (IOST)', zh: '每日票数变化（IOST）' }}
        rows={days}
        value={({ change }) => change}
        Plotted={ChangePlot}
      />
      <FoldedRows
        visit={visit}
        title={{ en: 'Votes by day', zh: '每日票数' }}
        rows={days.toReversed()}
        columns={[
          ['Day (UTC)', '日期（UTC）', day => <Day visit={visit} day={day} />],
          alignNumbers(days, ['Votes at end of day (IOST)', '当日结束时的票数（IOST）', ({ votes }) => votes]),
          [
            'Change (IOST)',
            '变化（IOST）',
            ({ change }) => <Change value={change} decimals={changeDecimals} />,
            'digits end',
          ],
        ]}
      />
    </Card>
  )
}
