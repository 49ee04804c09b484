/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import type { getAccountAssets } from '#actions/get-account.ts'
import { getBalances } from '#actions/get-balance.ts'
import { DAYS_OF_CHANGE, getProducerVoter, type getProducerVotes } from '#actions/get-producer.ts'
import { getRewardHistory } from '#actions/get-reward.ts'
import { voterFile } from '../download/downloads.ts'
import { countDecimals, sumDecimals } from '../format/amount.ts'
import { named, type Steps, stepsSince } from '../format/period.ts'
import { APPROVED, describeProducerStatus, type StatusOfProducer } from '../format/state.ts'
import type { Html, Props, Visit } from '../page.ts'
import { Amount, Change, Count, Day } from './amount.tsx'
import { ListCard, pageGiven, RANK_COLUMN, rankRows } from './list.tsx'
import { Owner } from './name.tsx'
import { ChangePlot, FigurePlot, LevelPlot, OverTime, Plot } from './plot.tsx'
import { Card } from './section.tsx'
import { Share } from './share.tsx'
import { alignNumbers, Rows } from './table.tsx'

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
  const [given, others] = [true, false].map(isGiven =>
    REWARDS.filter(([, , value]) => rows.some(row => value(row) !== '0') === isGiven),
  )
  const figures = [...(given ?? []), ...(others ?? []).map(([en, zh, value]) => [en, zh, value] as const)]
  return (
    <Card visit={visit} id="rewards" title={{ en: 'Rewards over time', zh: '奖励走势' }}>
      <OverTime visit={visit} step={steps.step} rows={rows} Plotted={Plot} figures={figures} />
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
      <Change value={days.at(-1)?.change ?? '0'} /> <span safe>{visit.say(formatLastDay(visit, days))}</span>
    </span>
    <span class="line">
      <Change value={sumDecimals(days.slice(-DAYS_OF_CHANGE).map(({ change }) => change))} />{' '}
      <span safe>{visit.say({ en: 'over 7 days', zh: '近 7 天' })}</span>
    </span>
  </small>
)

/** The name of the last day. If the service is behind, the day of the last block is over. */
function formatLastDay({ now }: Pick<Visit, 'now'>, days: VoteDays): Text {
  const today = new Date(now).toISOString().slice(0, 'yyyy-mm-dd'.length)
  const last = days.at(-1)?.date ?? today
  return last === today ? { en: 'today (UTC)', zh: '今日（UTC）' } : { en: `on ${last} (UTC)`, zh: `${last}（UTC）` }
}

/** The votes at the end of each day and the daily changes, as plots and as a table. */
export function VotesByDay({ visit, days }: VoteDaysProps): Html {
  const { say } = visit
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
      <details class="inner">
        <summary safe>{say({ en: 'Votes by day', zh: '每日票数' })}</summary>
        <Rows
          visit={visit}
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
      </details>
    </Card>
  )
}

type VoterRow = ReturnType<typeof rankRows<AnswerOf<typeof getProducerVoter>['voters'][number]>>[number] & {
  readonly held: NonNullable<AnswerOf<typeof getBalances>['balances'][number]> | undefined
}

type Voting = { readonly rows: readonly VoterRow[]; readonly total: number }

/** The voters of a page's producer, largest first, with their balances. */
export async function askVoters(visit: Visit): Promise<Voting> {
  const { voters, total } = await visit.ask(getProducerVoter, { producer: visit.id, ...pageGiven(visit) })
  const accounts = voters.map(({ account }) => account).join(',')
  const { balances } = voters.length === 0 ? { balances: [] } : await visit.ask(getBalances, { accounts })
  const rows = rankRows(visit, voters).map((row, at) => ({ ...row, held: balances[at] ?? undefined }))
  return { rows, total }
}

type VotersProps = {
  readonly visit: Visit
  readonly voting: Voting
  readonly votes: string
}

export function Voters({ visit, voting: { rows, total }, votes }: VotersProps): Html {
  return (
    <ListCard
      visit={visit}
      section="voters"
      title={{ en: 'Voters, largest first', zh: '投票者（按票数降序）' }}
      file={voterFile}
      id={visit.id}
      total={total}
      rows={rows}
      none={{ en: 'No voters.', zh: '没有投票者。' }}
      columns={[
        RANK_COLUMN,
        ['Voter', '投票者', row => <Owner visit={visit} id={row.account} />, 'lead'],
        alignNumbers(rows, ['Votes (IOST)', '所投票数（IOST）', row => row.votes, 'end']),
        ['Share of votes', '占比', row => <Share part={row.votes} whole={votes} />, 'digits'],
        alignNumbers(rows, ['Available (IOST)', '可用余额（IOST）', row => row.held?.balance]),
        alignNumbers(rows, ['Frozen (IOST)', '冻结（IOST）', row => row.held?.frozen_balance]),
      ]}
    />
  )
}
