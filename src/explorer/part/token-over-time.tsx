/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getDailyStatistics } from '#actions/get-daily-statistics.ts'
import { getSupplyHistory } from '#actions/get-supply-history.ts'
import { DAYS_DEFAULT } from '#actions/request/dates.ts'
import { dateOf, dayOf } from '#chain/time.ts'
import { named, type Steps, stepsSince } from '../format/steps.ts'
import { visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { Card } from './card.tsx'
import { LevelPlot, Plot } from './plot.tsx'
import { StepTable } from './step-table.tsx'

type SupplyStep = AnswerOf<typeof getSupplyHistory>['steps'][number]
type TokenDay = Extract<AnswerOf<typeof getDailyStatistics>['days'][number], { readonly volume: string }>

/** A token since it was created, by steps, and what was transferred on each of the last days; oldest first. */
type TokenHistory = {
  readonly steps: Steps
  readonly rows: readonly SupplyStep[]
  readonly days: readonly TokenDay[]
}

/** undefined: the token was created today, so there is one point of each plot and nothing to see. */
const tokenSince = async (
  visit: Visit,
  token: string,
  created: string,
): Promise<TokenHistory | undefined> => {
  const steps = stepsSince(visit, created)
  const { step, start_date } = steps
  const today = dayOf(visit.at.time)
  if (start_date === dateOf(today)) return undefined
  const lately = dateOf(Math.max(today - DAYS_DEFAULT + 1, Math.floor(Date.parse(created) / 86_400_000)))
  const [history, daily] = await Promise.all([
    visit.ask(getSupplyHistory, { token, step, start_date }),
    visit.ask(getDailyStatistics, { token, start_date: lately }),
  ])
  const days = daily.days.flatMap(day => ('volume' in day ? [day] : []))
  return { steps, rows: named(step, history.steps), days }
}

type TokenProps = {
  readonly visit: Visit
  /** When the token of the page was created, ISO-8601 UTC. */
  readonly created: string
}

/** Supply, holders and transfers as plots, with the exact figures behind them; nothing on the first day of a token. */
export const TokenOverTime = async ({ visit, created }: TokenProps): Promise<string> => {
  const history = await tokenSince(visit, visit.id, created)
  if (history === undefined) return ''
  return (
    <div class="pair">
      <SupplyAndHolders visit={visit} history={history} />
      <TransfersByDay visit={visit} history={history} />
    </div>
  )
}

type Props = { readonly visit: Visit; readonly history: TokenHistory }

const SupplyAndHolders = ({ visit, history: { steps, rows } }: Props): Html => {
  const { say } = visit
  const unit = visible(visit.id)
  const supply = say({ en: `Supply (${unit})`, zh: `供应量（${unit}）` })
  const holders = say({ en: 'Holders', zh: '持有者数' })
  return (
    <Card title={say({ en: 'Supply and holders over time', zh: '供应量与持有者走势' })}>
      <div class="over-time">
        <h3 safe>{supply}</h3>
        <LevelPlot
          visit={visit}
          title={supply}
          series={rows.map(({ date, supply: value }) => ({ date, value }))}
        />
      </div>
      <div class="over-time">
        <h3 safe>{holders}</h3>
        <LevelPlot
          visit={visit}
          title={holders}
          series={rows.map(row => ({ date: row.date, value: String(row.holders) }))}
        />
      </div>
      <StepTable
        visit={visit}
        step={steps.step}
        rows={rows}
        fields={[
          ['Supply', '期末供应量', row => row.supply],
          ['Holders', '期末持有者数', row => String(row.holders)],
        ]}
      />
    </Card>
  )
}

const TransfersByDay = ({ visit, history: { days } }: Props): Html => {
  const { say } = visit
  const unit = visible(visit.id)
  const volume = say({ en: `Volume (${unit})`, zh: `转账总额（${unit}）` })
  const transfers = say({ en: 'Transfers', zh: '转账次数' })
  const title = say({ en: 'Transfers per day', zh: '每日转账' })
  if (days.every(day => day.transfers === 0))
    return (
      <Card title={title}>
        <p class="none" safe>
          {say({
            en: `No transfers since ${days[0]?.date}.`,
            zh: `自 ${days[0]?.date} 起没有转账。`,
          })}
        </p>
      </Card>
    )
  return (
    <Card title={title}>
      <div class="over-time">
        <h3 safe>{volume}</h3>
        <Plot
          visit={visit}
          title={volume}
          series={days.map(({ date, volume: value }) => ({ date, value }))}
        />
      </div>
      <div class="over-time">
        <h3 safe>{transfers}</h3>
        <Plot
          visit={visit}
          title={transfers}
          series={days.map(day => ({ date: day.date, value: String(day.transfers) }))}
        />
      </div>
      <StepTable
        visit={visit}
        step="day"
        rows={days}
        fields={[
          ['Volume', '转账总额', row => row.volume],
          ['Transfers', '转账次数', row => String(row.transfers)],
        ]}
      />
    </Card>
  )
}
