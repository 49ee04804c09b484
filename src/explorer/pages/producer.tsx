/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import { getAccountAssets } from '#actions/get-account.ts'
import { getBalances } from '#actions/get-balance.ts'
import { getOverview } from '#actions/get-overview.ts'
import {
  DAYS_OF_CHANGE,
  getProducerDetail,
  getProducerRegistration,
  getProducerVoter,
  getProducerVotes,
} from '#actions/get-producer.ts'
import { voterFile } from '../download/downloads.ts'
import { catchNotFound } from '../find/known.ts'
import { formatTitle } from '../find/labels.ts'
import { formatCountedNoun, formatPercent, sumDecimals } from '../format/amount.ts'
import { hasDaysOfReturn, profileText } from '../format/state.ts'
import { revealInvisible } from '../format/text.ts'
import { formatPagePath, isNarrowed } from '../links.ts'
import type { Html, Page, PageContent, Props, Visit } from '../page.ts'
import { Amount, Change, Count, None, When } from '../part/amount.tsx'
import { alignNumbers, ListCard, RANK_COLUMN, rankRows, readGivenPage } from '../part/list.tsx'
import { Copied, Heading, Name, Owner } from '../part/name.tsx'
import {
  ProducerStatus,
  type RewardHistory,
  RewardsOverTime,
  readRewardHistory,
  type VoteDays,
  VotesByDay,
} from '../part/producer.tsx'
import { Card, Facts, Figures } from '../part/section.tsx'
import { Concentration, Largest, MAX_BANDED, Share } from '../part/share.tsx'
import { ChainText, ExternalLink } from '../part/text.tsx'

/** A producer, including one that is no longer registered. */
export const producerPage: Page = {
  path: '/producer/{id}',
  show: async visit => {
    const { say, lang, id: producer } = visit
    const detail = await catchNotFound(visit.ask(getProducerDetail, { producer }))
    if (detail === undefined) return formerProducer(visit)
    const [{ all_votes }, { days }, { voters: largest, total }, voting, rewards, assets] = await Promise.all([
      visit.ask(getOverview),
      visit.ask(getProducerVotes, { producer }),
      visit.ask(getProducerVoter, { producer, page: '1', size: String(MAX_BANDED) }),
      askVoters(visit),
      readRewardHistory(visit, detail.account),
      visit.ask(getAccountAssets, { account: detail.account }),
    ])
    const alias = profileText(lang, detail.alias, detail.alias_en)
    const kind = say({ en: 'Producer', zh: '生产者' })
    const name = revealInvisible(detail.account)
    return {
      title: `${kind} ${formatTitle(visit, detail.account)}`,
      path: formatPagePath('producer', detail.account),
      description: say({
        en: `IOST block producer ${name}: rank ${detail.ranking}, votes, ${formatCountedNoun(total, 'voter')}, rewards and blocks made.`,
        zh: `IOST 生产者 ${name}：排名第 ${detail.ranking}，票数、${total} 个投票者、奖励与出块数。`,
      }),
      isMinor: isNarrowed(visit, ['page']),
      body: (
        <>
          <Heading visit={visit} kind={kind} id={detail.account} alias={alias} />
          <section class="card">
            <StatusFacts visit={visit} detail={detail} days={days} assets={assets} />
          </section>
          <div class="pair">
            <section class="card">
              <About visit={visit} detail={detail} allVotes={all_votes} rewards={rewards} />
            </section>
            <LargestVoters visit={visit} largest={largest} total={total} votes={detail.votes} />
          </div>
          <div class="pair">
            <VotesByDay visit={visit} days={days} />
            <RewardsOverTime visit={visit} history={rewards} />
          </div>
          <Texts visit={visit} detail={detail} />
          <Voters visit={visit} voting={voting} votes={detail.votes} />
        </>
      ),
    }
  },
}

type Detail = AnswerOf<typeof getProducerDetail>

type DetailProps = Props<{ detail: Detail }>

type StatusFactsProps = DetailProps & {
  readonly days: VoteDays
  readonly assets: AnswerOf<typeof getAccountAssets>
}

function StatusFacts({ visit, detail, days, assets }: StatusFactsProps): Html {
  return (
    <Figures
      visit={visit}
      facts={[
        ['Rank', '排名', <Count value={detail.ranking} />],
        [
          'Votes',
          '票数',
          <span class="stack">
            <Amount visit={visit} value={detail.votes} token="iost" />
            <LatestChanges visit={visit} days={days} />
          </span>,
        ],
        ['Blocks made', '出块数', <Count value={detail.block_count} />],
        [
          'Rewards received',
          '已获奖励',
          <ReceivedRewards visit={visit} received={detail.received_award} assets={assets} />,
        ],
      ]}
    />
  )
}

type AboutProps = DetailProps & {
  readonly allVotes: string
  /** undefined: it has no rewards yet. */
  readonly rewards: RewardHistory | undefined
}

function About({ visit, detail, allVotes, rewards }: AboutProps): Html {
  const none = <None />
  return (
    <Facts
      visit={visit}
      facts={[
        ['Account', '账户', <Name visit={visit} kind="account" id={detail.account} />],
        ['Status', '状态', <ProducerStatus visit={visit} of={detail} />],
        ['Share of all votes', '得票率', <Share part={detail.votes} whole={allVotes} />],
        [
          'Annual return of voters',
          '投票者年化收益率',
          <AnnualReturn visit={visit} detail={detail} since={rewards?.since} />,
        ],
        ['Location', '地区', detail.loc === '' ? none : <ChainText visit={visit} text={detail.loc} isProse />],
        ['Site', '网址', detail.url === '' ? none : <ExternalLink url={detail.url} />],
        ['Signing key', '签名公钥', <Copied visit={visit} text={detail.pubkey} />],
      ]}
    />
  )
}

type AnnualReturnProps = DetailProps & {
  /** Time of the first reward, ISO-8601 UTC; undefined: there is none yet. */
  readonly since: string | undefined
}

/** The return of the last 30 days, extrapolated to a year. Fewer days of rewards would not show a year's. */
function AnnualReturn({ visit, detail, since }: AnnualReturnProps): Html {
  const { say, at } = visit
  if (!hasDaysOfReturn(since, at.time))
    return (
      <span class="none" safe>
        {say({ en: 'Shown after 30 days of rewards', zh: '奖励满 30 天后显示' })}
      </span>
    )
  return (
    <span>
      <data value={detail.dividend_rate} safe>
        {`${formatPercent(detail.dividend_rate, '1') ?? '0.00'} %`}
      </data>{' '}
      <small safe>
        {say({
          en: `no. ${detail.dividend_rate_ranking}, by the last 30 days`,
          zh: `第 ${detail.dividend_rate_ranking} 名，按最近 30 天推算`,
        })}
      </small>
    </span>
  )
}

type LargestVotersProps = {
  readonly visit: Visit
  /** Largest first, at most `MAX_BANDED`. */
  readonly largest: AnswerOf<typeof getProducerVoter>['voters']
  readonly total: number
  readonly votes: string
}

function LargestVoters({ visit, largest, total, votes: whole }: LargestVotersProps): Html {
  const { say } = visit
  return (
    <Card
      visit={visit}
      id="largest-voters"
      title={{ en: 'Largest voters', zh: '主要投票者' }}
      aside={
        <a href="#voters" safe>
          {say({ en: 'Voters and their balances ↓', zh: '投票者及其余额 ↓' })}
        </a>
      }
    >
      <Concentration visit={visit} parts={largest.map(({ votes }) => votes)} whole={whole} total={total} />
      <Largest visit={visit} owners={largest.map(({ account, votes }) => ({ account, amount: votes }))} whole={whole} />
    </Card>
  )
}

/** The texts of the operator's profile file, if it has any. */
function Texts({ visit, detail }: DetailProps): Html {
  const { lang } = visit
  const facts = [
    ['Type', '类型', profileText(lang, detail.type, detail.type_en)],
    ['About', '介绍', profileText(lang, detail.description, detail.description_en)],
    ['Statement', '宣言', profileText(lang, detail.statement, detail.statement_en)],
  ] as const
  const shown = facts.filter(([, , text]) => text !== '')
  const media = Object.entries(detail.social_media)
  if (shown.length === 0 && media.length === 0) return ''
  return (
    <Card visit={visit} id="profile" title={{ en: 'In its own words', zh: '自我介绍' }}>
      <Facts
        visit={visit}
        facts={[
          ...shown.map(([en, zh, text]) => [en, zh, <ChainText visit={visit} text={text} isProse />] as const),
          ...media.map(
            ([name, url]) => [revealInvisible(name), revealInvisible(name), <ExternalLink url={url} />] as const,
          ),
        ]}
      />
    </Card>
  )
}

/**
 * The page of a producer that is no longer registered: the time of the end, and its remaining voters. Throws
 * Failure for any other account.
 */
async function formerProducer(visit: Visit): Promise<PageContent> {
  const { say, id: producer } = visit
  const [former, voting, assets] = await Promise.all([
    visit.ask(getProducerRegistration, { producer }),
    askVoters(visit),
    visit.ask(getAccountAssets, { account: producer }),
  ])
  const name = revealInvisible(former.account)
  return {
    path: formatPagePath('producer', former.account),
    title: say({ en: `Former producer ${name}`, zh: `前生产者 ${name}` }),
    description: say({
      en: `Former IOST block producer ${name}: when it was unregistered, and its ${formatCountedNoun(voting.total, 'voter')}.`,
      zh: `IOST 前生产者 ${name}：注销时间与 ${voting.total} 个投票者。`,
    }),
    isMinor: isNarrowed(visit, ['page']),
    body: (
      <>
        <Heading visit={visit} kind={say({ en: 'Former producer', zh: '前生产者' })} alias={former.account} />
        <section class="card">
          <Facts
            visit={visit}
            facts={[
              ['Account', '账户', <Name visit={visit} kind="account" id={former.account} />],
              [
                'Status',
                '状态',
                <span class="badge warn" safe>
                  {say({ en: 'Not registered', zh: '已注销' })}
                </span>,
              ],
              ['Unregistered', '注销时间', <Since visit={visit} former={former} />],
              ['Remaining votes', '剩余票数', <Amount visit={visit} value={former.votes} token="iost" />],
              ['Blocks made', '出块数', <Count value={former.block_count} />],
              [
                'Rewards received',
                '已获奖励',
                <ReceivedRewards visit={visit} received={former.received_award} assets={assets} />,
              ],
              ['Last signing key', '最后的签名公钥', <Copied visit={visit} text={former.pubkey} />],
            ]}
          />
        </section>
        <Voters visit={visit} voting={voting} votes={former.votes} />
      </>
    ),
  }
}

type Former = AnswerOf<typeof getProducerRegistration>

const Since = ({ visit, former: { unregistered_at, unregistered_block } }: Props<{ former: Former }>): Html =>
  unregistered_at === undefined || unregistered_block === undefined ? (
    <None />
  ) : (
    <>
      <When visit={visit} iso={unregistered_at} />{' '}
      <small>
        <span safe>{visit.say({ en: 'in block ', zh: '区块 ' })}</span>
        <Name visit={visit} kind="block" id={unregistered_block} />
      </small>
    </>
  )

type ReceivedRewardsProps = {
  readonly visit: Visit
  /** Received by the producer. */
  readonly received: string
  readonly assets: AnswerOf<typeof getAccountAssets>
}

/** The rewards that a producer received, and the one that it has not withdrawn yet. */
function ReceivedRewards({ visit, received, assets }: ReceivedRewardsProps): Html {
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

/** The change in votes on the last day and over a week. */
const LatestChanges = ({ visit, days }: Props<{ days: VoteDays }>): Html => (
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

type VoterRow = ReturnType<typeof rankRows<AnswerOf<typeof getProducerVoter>['voters'][number]>>[number] & {
  readonly held: NonNullable<AnswerOf<typeof getBalances>['balances'][number]> | undefined
}

type Voting = { readonly rows: readonly VoterRow[]; readonly total: number }

/** The voters of a page's producer, largest first, with their balances. */
async function askVoters(visit: Visit): Promise<Voting> {
  const { voters, total } = await visit.ask(getProducerVoter, { producer: visit.id, ...readGivenPage(visit) })
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

function Voters({ visit, voting: { rows, total }, votes }: VotersProps): Html {
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
