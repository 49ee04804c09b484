/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getDailyStatistics } from '#actions/get-overview.ts'
import { getSupplyHistory, getTokenDetail, getTokenHolder, getTokenTx } from '#actions/get-token.ts'
import { DAYS_DEFAULT } from '#actions/request/range.ts'
import { formatDate, toDay } from '#chain/time.ts'
import { holderFile, tokenMovements } from '../download/downloads.ts'
import { formatCountedNoun, formatGrouped } from '../format/amount.ts'
import { listFieldNames, readGivenFields, TOKEN_FIELDS } from '../format/field.ts'
import { nameSteps, parseIsoDay, type Steps, selectStepsSince } from '../format/period.ts'
import { describeTransferability } from '../format/state.ts'
import { revealInvisible } from '../format/text.ts'
import { formatPagePath, isNarrowed, PAGING, toHref } from '../links.ts'
import type { Html, Page, Props, Visit } from '../page.ts'
import { Amount, Count } from '../part/amount.tsx'
import { AllChanges } from '../part/balance.tsx'
import { Filters } from '../part/form.tsx'
import { alignNumbers, ListCard, RANK_COLUMN, rankRows, readGivenPage } from '../part/list.tsx'
import { Heading, Made, Owner } from '../part/name.tsx'
import { LevelPlot, OverTime, Plot } from '../part/plot.tsx'
import { RecordList, readGivenPart } from '../part/records.tsx'
import { Card, Facts, Note, Tabs } from '../part/section.tsx'
import { Concentration, Largest, MAX_BANDED, Share } from '../part/share.tsx'
import { ChainText } from '../part/text.tsx'

/**
 * A token: its supply, its holders, and its movements. The lists of holders and movements have their own
 * pages; holders: `?holders=1`.
 */
export const tokenPage: Page = {
  path: '/token/{id}',
  fields: TOKEN_FIELDS,
  show: async visit => {
    const { say, id: token } = visit
    const isOfHolders = visit.query.has('holders')
    const isOfList = isOfHolders || isNarrowed(visit, [...listFieldNames(TOKEN_FIELDS), ...PAGING])
    const [detail, { holders: largest, total: holderCount }] = await Promise.all([
      visit.ask(getTokenDetail, { token }),
      visit.ask(getTokenHolder, { token, page: '1', size: String(MAX_BANDED) }),
    ])
    const name = revealInvisible(detail.symbol)
    const [supply, most] = [formatGrouped(detail.current_supply), formatGrouped(detail.total_supply)]
    return {
      path: formatPagePath('token', detail.symbol),
      title: say({ en: `Token ${name}`, zh: `代币 ${name}` }),
      description: say({
        en: `Token ${name} on IOST: supply ${supply} of at most ${most}, ${formatCountedNoun(detail.holder_count, 'holder')}.`,
        zh: `IOST 代币 ${name}：供应量 ${supply}，上限 ${most}，${formatGrouped(String(detail.holder_count))} 个持有者。`,
      }),
      isMinor: isOfList,
      body: (
        <>
          <Heading visit={visit} kind={say({ en: 'Token', zh: '代币' })} alias={detail.symbol} />
          <div class="pair">
            <section class="card">
              <About visit={visit} detail={detail} />
            </section>
            <Distribution visit={visit} detail={detail} largest={largest} total={holderCount} />
          </div>
          {/* Later pages of its lists, and filtered ones, do not show the token over time. */}
          {!isOfList && <TokenOverTime visit={visit} created={detail.created_at} />}
          <Tabs
            visit={visit}
            label={say({ en: 'Lists of this token', zh: '此代币的列表' })}
            path={formatPagePath('token', token)}
            tabs={[
              { name: say({ en: 'Movements', zh: '变动记录' }) },
              { name: say({ en: 'Holders', zh: '持有者' }), query: 'holders' },
            ]}
          />
          {isOfHolders ? <Holders visit={visit} supply={detail.current_supply} /> : <Movements visit={visit} />}
        </>
      ),
    }
  },
}

type Detail = AnswerOf<typeof getTokenDetail>

function About({ visit, detail }: Props<{ detail: Detail }>): Html {
  const { symbol, tx_hash } = detail
  return (
    <Facts
      visit={visit}
      facts={[
        ['Full name', '全名', <ChainText visit={visit} text={detail.full_name} isProse />],
        ['Supply', '供应量', <Amount visit={visit} value={detail.current_supply} token={symbol} />],
        ['Maximum supply', '最大供应量', <Amount visit={visit} value={detail.total_supply} token={symbol} />],
        ['Issuer', '发行者', <Owner visit={visit} id={detail.issuer} />],
        ['Holders', '持有者数', <Count value={detail.holder_count} />],
        ['Decimals', '小数位数', <Count value={detail.decimal} />],
        ['Transfers', '转账', <Transfers visit={visit} detail={detail} />],
        ['Created', '创建时间', <Made visit={visit} iso={detail.created_at} tx={tx_hash} />],
      ]}
    />
  )
}

type DistributionProps = {
  readonly visit: Visit
  readonly detail: Detail
  /** Largest first, of `total`. */
  readonly largest: AnswerOf<typeof getTokenHolder>['holders']
  readonly total: AnswerOf<typeof getTokenHolder>['total']
}

function Distribution({ visit, detail, largest, total }: DistributionProps): Html {
  const { say } = visit
  return (
    <Card
      visit={visit}
      id="shares"
      title={{ en: 'Available balances by share of the supply', zh: '可用余额占供应量的比例' }}
      aside={
        visit.id === 'iost' ? (
          <a href={toHref(visit, '/wealth')} safe>
            {say({ en: 'With votes and frozen amounts →', zh: '含投票与冻结 →' })}
          </a>
        ) : (
          ''
        )
      }
    >
      <Concentration
        visit={visit}
        parts={largest.map(({ balance }) => balance)}
        whole={detail.current_supply}
        total={total}
      />
      <Largest
        visit={visit}
        owners={largest.map(({ account, balance }) => ({ account, amount: balance }))}
        whole={detail.current_supply}
      />
    </Card>
  )
}

function Transfers({ visit: { say }, detail }: Props<{ detail: Detail }>): Html {
  const isFree = detail.can_transfer && !detail.only_issuer_can_transfer
  return (
    <span class={isFree ? undefined : 'warn'} safe>
      {say(describeTransferability(detail))}
    </span>
  )
}

/** The actions that token.iost records for a token. */
const RECORDED = ['transfer', 'transferFreeze', 'issue', 'destroy'].map(name => `token.iost/${name}`)

async function Movements({ visit }: { readonly visit: Visit }): Promise<string> {
  const { id: token } = visit
  const filters = readGivenFields(visit, TOKEN_FIELDS)
  const found = await visit.ask(getTokenTx, { token, ...filters, ...readGivenPart(visit) })
  return (
    <Card visit={visit} id="movements" title={{ en: 'Movements, newest first', zh: '变动记录（最新的在前）' }}>
      <Filters visit={visit} fields={TOKEN_FIELDS} choices={{ func_name: { choices: RECORDED } }} />
      <RecordList visit={visit} file={tokenMovements} id={token} listed={found} live="movements" />
    </Card>
  )
}

async function Holders({ visit, supply }: Props<{ supply: string }>): Promise<string> {
  const { holders, total } = await visit.ask(getTokenHolder, { token: visit.id, ...readGivenPage(visit) })
  const unit = revealInvisible(visit.id)
  return (
    <ListCard
      visit={visit}
      section="holders"
      title={{ en: 'Holders, largest first', zh: '持有者（按余额降序）' }}
      file={holderFile}
      id={visit.id}
      total={total ?? 0}
      rows={rankRows(visit, holders)}
      none={{ en: 'No holders.', zh: '没有持有者。' }}
      columns={[
        RANK_COLUMN,
        ['Owner', '持有者', row => <Owner visit={visit} id={row.account} />, 'lead'],
        alignNumbers(holders, [`Available (${unit})`, `可用余额（${unit}）`, row => row.balance, 'end']),
        ['Share of the supply', '占供应量', row => <Share part={row.balance} whole={supply} />, 'digits'],
        [
          'Balance history',
          '余额历史',
          ({ account }) => <AllChanges visit={visit} of={{ account, token: visit.id }} />,
        ],
      ]}
    />
  )
}

type SupplyStep = AnswerOf<typeof getSupplyHistory>['steps'][number]
type TokenDay = Extract<AnswerOf<typeof getDailyStatistics>['days'][number], { readonly volume: string }>

/** A token's supply since its creation, by steps, and its transfers on each of the last days; oldest first. */
type TokenHistory = {
  readonly steps: Steps
  readonly rows: readonly SupplyStep[]
  readonly days: readonly TokenDay[]
}

/** The history of a token; undefined: it was created today, so that each plot would have only one point. */
async function readTokenHistory(visit: Visit, token: string, created: string): Promise<TokenHistory | undefined> {
  const steps = selectStepsSince(visit, created)
  const { step, start_date } = steps
  const today = toDay(visit.at.time)
  if (start_date === formatDate(today)) return undefined
  const lately = formatDate(Math.max(today - DAYS_DEFAULT + 1, parseIsoDay(created)))
  const [history, daily] = await Promise.all([
    visit.ask(getSupplyHistory, { token, step, start_date }),
    visit.ask(getDailyStatistics, { token, start_date: lately }),
  ])
  const days = daily.days.flatMap(day => ('volume' in day ? [day] : []))
  return { steps, rows: nameSteps(step, history.steps), days }
}

type TokenProps = {
  readonly visit: Visit
  /** Time of the token's creation, ISO-8601 UTC. */
  readonly created: string
}

/**
 * Supply, holders and transfers as plots, with the exact figures in collapsed tables; empty on the first day
 * of a token.
 */
async function TokenOverTime({ visit, created }: TokenProps): Promise<string> {
  const history = await readTokenHistory(visit, visit.id, created)
  if (history === undefined) return ''
  return (
    <div class="pair">
      <SupplyAndHolders visit={visit} history={history} />
      <TransfersByDay visit={visit} history={history} />
    </div>
  )
}

function SupplyAndHolders({ visit, history: { steps, rows } }: Props<{ history: TokenHistory }>): Html {
  const unit = revealInvisible(visit.id)
  return (
    <Card visit={visit} id="supply" title={{ en: 'Supply and holders over time', zh: '供应量与持有者走势' }}>
      <OverTime
        visit={visit}
        step={steps.step}
        rows={rows}
        Plotted={LevelPlot}
        figures={[
          ['Supply', '期末供应量', row => row.supply, { en: `Supply (${unit})`, zh: `供应量（${unit}）` }],
          ['Holders', '期末持有者数', row => String(row.holders), { en: 'Holders', zh: '持有者数' }],
        ]}
      />
    </Card>
  )
}

function TransfersByDay({ visit, history: { days } }: Props<{ history: TokenHistory }>): Html {
  const unit = revealInvisible(visit.id)
  return (
    <Card visit={visit} id="transfers" title={{ en: 'Transfers per day', zh: '每日转账' }}>
      {days.every(day => day.transfers === 0) ? (
        <Note
          visit={visit}
          text={{ en: `No transfers since ${days[0]?.date}.`, zh: `自 ${days[0]?.date} 起没有转账。` }}
        />
      ) : (
        <OverTime
          visit={visit}
          step="day"
          rows={days}
          Plotted={Plot}
          figures={[
            [
              'Volume of transfers',
              '转账总额',
              row => row.volume,
              { en: `Volume of transfers (${unit})`, zh: `转账总额（${unit}）` },
            ],
            ['Transfers', '转账次数', row => String(row.transfers), { en: 'Transfers', zh: '转账次数' }],
          ]}
        />
      )}
    </Card>
  )
}
