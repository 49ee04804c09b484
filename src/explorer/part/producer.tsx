/** @jsxImportSource @kitajs/html */

import type { AnswerOf } from '#actions/ask.ts'
import { DAYS_OF_CHANGE } from '#actions/find/votes-by-day.ts'
import type { getAccountAssets } from '#actions/get-account-assets.ts'
import { getBalances } from '#actions/get-balances.ts'
import { getProducerVoter } from '#actions/get-producer-voter.ts'
import type { getProducerVotes } from '#actions/get-producer-votes.ts'
import { getRewardHistory } from '#actions/get-reward-history.ts'
import type { Text } from '#actions/text.ts'
import { voterFile } from '../download/downloads.ts'
import { counted, decimalsOf, signed, sumOf } from '../format/amount.ts'
import { named, type Steps, stepsSince } from '../format/period.ts'
import { APPROVED, producerStatusOf, type StatusOfProducer } from '../format/state.ts'
import type { Html, Visit } from '../page.ts'
import { Amount, Change, Count, Day, None, Place } from './amount.tsx'
import { Files, Pager, pageGiven, rankOf } from './list.tsx'
import { Owner } from './name.tsx'
import { Bars, LevelPlot, OverTime, Plot, PlotFrame, type Series, type ShapeProps } from './plot.tsx'
import { Card } from './section.tsx'
import { Share } from './share.tsx'
import { type Column, Rows } from './table.tsx'

type ProducerStatusProps = { readonly visit: Pick<Visit, 'say'>; readonly of: StatusOfProducer }

/** Whether a producer is approved, a candidate, and online. */
export const ProducerStatus = ({ visit: { say }, of }: ProducerStatusProps): Html => (
  <span class={`badge ${chooseTone(of)}`.trimEnd()} safe>
    {say(producerStatusOf(of))}
  </span>
)

function chooseTone({ status, isProducer, online }: StatusOfProducer): string {
  if (status !== APPROVED) return 'warn'
  if (!isProducer) return ''
  return online ? 'good' : 'warn'
}

type ReceivedRewardsProps = {
  readonly visit: Visit
  /** Received by the producer. */
  readonly received: string
  readonly assets: AnswerOf<typeof getAccountAssets>
}

/** The rewards that a producer received, and the one that it has not withdrawn yet. */
export function ReceivedRewards({ visit, received, assets }: ReceivedRewardsProps): Html {
  const { say } = visit
  const { producer_reward: waiting } = assets.iost
  const all = <Amount visit={visit} value={received} token="iost" />
  if (waiting === '0') return all
  return (
    <span class="stack">
      {all as 'safe'}
      <small>
        {waiting === null ? (
          <span safe>{say({ en: 'not yet withdrawn: not known', zh: '尚未领取的无法得知' })}</span>
        ) : (
          <>
            <span safe>{say({ en: 'not yet withdrawn: ', zh: '尚未领取：' })}</span>
            <Count value={waiting} />
          </>
        )}
      </small>
    </span>
  )
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
export async function rewardsSince(visit: Visit, producer: string): Promise<RewardHistory | undefined> {
  const { rewards } = await visit.ask(getRewardHistory, { producer, sort: 'asc', page: '1', size: '1' })
  const first = rewards.find((row): row is Exclude<RewardRow, RewardStep> => !isStep(row))
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
export function RewardsOverTime({ visit, history }: RewardProps): Html {
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

/** A producer's votes by day, oldest first. */
export type VoteDays = AnswerOf<typeof getProducerVotes>['days']

type VoteDaysProps = { readonly visit: Pick<Visit, 'say' | 'lang' | 'now'>; readonly days: VoteDays }

/** The change in votes on the last day and over a week. */
export const LatestChanges = ({ visit, days }: VoteDaysProps): Html => (
  <small>
    <span class="line">
      <Change value={days.at(-1)?.change ?? '0'} /> <span safe>{visit.say(lastDayOf(visit, days))}</span>
    </span>
    <span class="line">
      <Change value={sumOf(days.slice(-DAYS_OF_CHANGE).map(({ change }) => change))} />{' '}
      <span safe>{visit.say({ en: 'over 7 days', zh: '近 7 天' })}</span>
    </span>
  </small>
)

/** The name of the last day. If the service is behind, the day of the last block is over. */
function lastDayOf({ now }: Pick<Visit, 'now'>, days: VoteDays): Text {
  const today = new Date(now).toISOString().slice(0, 'yyyy-mm-dd'.length)
  const last = days.at(-1)?.date ?? today
  return last === today ? { en: 'today (UTC)', zh: '今日（UTC）' } : { en: `on ${last} (UTC)`, zh: `${last}（UTC）` }
}

/** The votes at the end of each day and the daily changes, as plots and as a table. */
export function VotesByDay({ visit, days }: VoteDaysProps): Html {
  const { say } = visit
  const title = say({ en: 'Daily change in votes (IOST)', zh: '每日票数变化（IOST）' })
  const votesTitle = say({ en: 'Votes (IOST)', zh: '票数（IOST）' })
  const votesDecimals = decimalsOf(days.map(({ votes }) => votes))
  const changeDecimals = decimalsOf(days.map(({ change }) => change))
  return (
    <Card visit={visit} id="votes-by-day" title={say({ en: 'Votes over time', zh: '票数走势' })}>
      <div class="over-time">
        <h3 safe>{votesTitle}</h3>
        <LevelPlot visit={visit} title={votesTitle} series={days.map(({ date, votes }) => ({ date, value: votes }))} />
      </div>
      <div class="over-time">
        <h3 safe>{title}</h3>
        <ChangePlot visit={visit} title={title} series={days.map(({ date, change }) => ({ date, value: change }))} />
      </div>
      <details class="inner">
        <summary safe>{say({ en: 'Votes by day', zh: '每日票数' })}</summary>
        <Rows
          visit={visit}
          rows={days.toReversed()}
          columns={[
            ['Day (UTC)', '日期（UTC）', day => <Day visit={visit} day={day} />],
            [
              'Votes at end of day (IOST)',
              '当日结束时的票数（IOST）',
              ({ votes }) => <Count value={votes} decimals={votesDecimals} />,
              { isNumber: true },
            ],
            [
              'Change (IOST)',
              '变化（IOST）',
              ({ change }) => <Change value={change} decimals={changeDecimals} />,
              { isNumber: true, place: 'end' },
            ],
          ]}
        />
      </details>
    </Card>
  )
}

type ChangePlotProps = {
  readonly visit: Pick<Visit, 'say' | 'lang'>
  readonly title: string
  readonly series: Series
}

/** The daily change of a figure: bars rise from zero for gains and fall for losses. */
function ChangePlot({ visit, title, series }: ChangePlotProps): Html {
  const { say } = visit
  const values = series.map(({ value }) => Number(value))
  const scale = { least: Math.min(0, ...values), most: Math.max(0, ...values) }
  const gain = series[values.indexOf(scale.most)]
  const loss = series[values.indexOf(scale.least)]
  const told = [
    ...(gain === undefined || scale.most === 0
      ? []
      : [say({ en: `Largest gain: ${on(gain)}`, zh: `最大增加：${on(gain)}` })]),
    ...(loss === undefined || scale.least === 0
      ? []
      : [say({ en: `Largest loss: ${on(loss)}`, zh: `最大减少：${on(loss)}` })]),
  ]
  if (told.length === 0)
    return (
      <p class="none" safe>
        {say({ en: `No change in ${counted(series.length, 'day')}.`, zh: `${series.length} 天内没有变化。` })}
      </p>
    )
  return (
    <PlotFrame visit={visit} title={title} series={series} extent={scale} told={told.join(' · ')} written={signed}>
      {axis => <GainsAndLosses values={values} axis={axis} />}
    </PlotFrame>
  )
}

const GainsAndLosses = ({ values, axis }: ShapeProps): Html => (
  <g>
    <Bars kind="gain" values={values.map(value => Math.max(0, value))} axis={axis} />
    <Bars kind="loss" values={values.map(value => Math.min(0, value))} axis={axis} />
  </g>
)

const on = ({ date, value }: Series[number]): string => `${signed(value)} (${date})`

type VoterRow = AnswerOf<typeof getProducerVoter>['voters'][number] & {
  readonly rank: number
  readonly held: NonNullable<AnswerOf<typeof getBalances>['balances'][number]> | undefined
}

/** Voters of a producer, and the number of all voters. */
type Voting = { readonly rows: readonly VoterRow[]; readonly total: number }

/** The voters of a page's producer, largest first, with their balances. */
export async function askVoters(visit: Visit): Promise<Voting> {
  const { voters, total } = await visit.ask(getProducerVoter, { producer: visit.id, ...pageGiven(visit) })
  const accounts = voters.map(({ account }) => account).join(',')
  const { balances } = voters.length === 0 ? { balances: [] } : await visit.ask(getBalances, { accounts })
  const rows = voters.map((row, at) => ({ ...row, rank: rankOf(visit, at), held: balances[at] ?? undefined }))
  return { rows, total }
}

type VotersProps = {
  readonly visit: Visit
  readonly voting: Voting
  /** All votes of the producer. */
  readonly votes: string
}

/** A table of voters. */
export function Voters({ visit, voting: { rows, total }, votes }: VotersProps): Html {
  const { say } = visit
  return (
    <Card visit={visit} id="voters" title={say({ en: 'Voters, largest first', zh: '投票者（按票数降序）' })}>
      <Files visit={visit} file={voterFile} id={visit.id} total={total} />
      <Rows
        visit={visit}
        rows={rows}
        none={{ en: 'No voters.', zh: '没有投票者。' }}
        columns={columnsFor(visit, rows, votes)}
      />
      <Pager visit={visit} total={total} />
    </Card>
  )
}

function columnsFor(visit: Visit, rows: readonly VoterRow[], votes: string): readonly Column<VoterRow>[] {
  const amounts = (of: (row: VoterRow) => string | undefined): Column<VoterRow>[2] => {
    const decimals = decimalsOf(rows.map(row => of(row) ?? ''))
    return row => {
      const value = of(row)
      return value === undefined ? <None /> : <Count value={value} decimals={decimals} />
    }
  }
  return [
    ['Rank', '排名', ({ rank }) => <Place value={rank} />],
    ['Voter', '投票者', row => <Owner visit={visit} id={row.account} />, { place: 'lead' }],
    ['Votes (IOST)', '所投票数（IOST）', amounts(row => row.votes), { isNumber: true, place: 'end' }],
    ['Share of votes', '占比', row => <Share part={row.votes} whole={votes} />, { isNumber: true }],
    ['Available (IOST)', '可用余额（IOST）', amounts(row => row.held?.balance), { isNumber: true }],
    ['Frozen (IOST)', '冻结（IOST）', amounts(row => row.held?.frozen_balance), { isNumber: true }],
  ]
}
