/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getDailyStatistics } from '#actions/get-daily-statistics.ts'
import { getSupplyHistory } from '#actions/get-supply-history.ts'
import { DAYS_DEFAULT } from '#actions/request/dates.ts'
import { dateOf, dayOf } from '#chain/time.ts'
import { dayOfIso, named, type Steps, stepsSince } from '../format/steps.ts'
import { visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { Card } from './card.tsx'
import { OverTime } from './over-time.tsx'
import { LevelPlot, Plot } from './plot.tsx'

type SupplyStep = AnswerOf<typeof getSupplyHistory>['steps'][number]
type TokenDay = Extract<AnswerOf<typeof getDailyStatistics>['days'][number], { readonly volume: string }>

/** A token's supply since its creation, by steps, and its transfers on each of the last days; oldest first. */
type TokenHistory = {
  readonly steps: Steps
  readonly rows: readonly SupplyStep[]
  readonly days: readonly TokenDay[]
}

/** The history of a token; undefined: it was created today, so that each plot would have only one point. */
const tokenSince = async (visit: Visit, token: string, created: string): Promise<TokenHistory | undefined> => {
  const steps = stepsSince(visit, created)
  const { step, start_date } = steps
  const today = dayOf(visit.at.time)
  if (start_date === dateOf(today)) return undefined
  const lately = dateOf(Math.max(today - DAYS_DEFAULT + 1, dayOfIso(created)))
  const [history, daily] = await Promise.all([
    visit.ask(getSupplyHistory, { token, step, start_date }),
    visit.ask(getDailyStatistics, { token, start_date: lately }),
  ])
  const days = daily.days.flatMap(day => ('volume' in day ? [day] : []))
  return { steps, rows: named(step, history.steps), days }
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
  return (
    <Card visit={visit} id="supply" title={say({ en: 'Supply and holders over time', zh: '供应量与持有者走势' })}>
      <OverTime
        visit={visit}
        step={steps.step}
        rows={rows}
        Plotted={LevelPlot}
        figures={[
          {
            title: { en: `Supply (${unit})`, zh: `供应量（${unit}）` },
            head: ['Supply', '期末供应量'],
            value: row => row.supply,
          },
          {
            title: { en: 'Holders', zh: '持有者数' },
            head: ['Holders', '期末持有者数'],
            value: row => String(row.holders),
          },
        ]}
      />
    </Card>
  )
}

const TransfersByDay = ({ visit, history: { days } }: Props): Html => {
  const { say } = visit
  const unit = visible(visit.id)
  return (
    <Card visit={visit} id="transfers" title={say({ en: 'Transfers per day', zh: '每日转账' })}>
      {days.every(day => day.transfers === 0) ? (
        <p class="none" safe>
          {say({ en: `No transfers since ${days[0]?.date}.`, zh: `自 ${days[0]?.date} 起没有转账。` })}
        </p>
      ) : (
        <OverTime
          visit={visit}
          step="day"
          rows={days}
          Plotted={Plot}
          figures={[
            {
              title: { en: `Volume of transfers (${unit})`, zh: `转账总额（${unit}）` },
              head: ['Volume of transfers', '转账总额'],
              value: row => row.volume,
            },
            {
              title: { en: 'Transfers', zh: '转账次数' },
              head: ['Transfers', '转账次数'],
              value: row => String(row.transfers),
            },
          ]}
        />
      )}
    </Card>
  )
}
