/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import { getBalanceHistory } from '#actions/get-balance.ts'
import { toIso } from '#chain/time.ts'
import { sumDecimals } from '../format/amount.ts'
import { nameSteps, type Steps, selectStepsSince } from '../format/period.ts'
import { revealInvisible } from '../format/text.ts'
import { formatTime } from '../format/time.ts'
import { formatBalancePath, toHref } from '../links.ts'
import type { Html, Props, Visit } from '../page.ts'
import { Ago, Change, Count, Place } from './amount.tsx'
import { FoldedRows } from './list.tsx'
import { LevelPlot, StepTable } from './plot.tsx'
import { Card, Note } from './section.tsx'

type Row = AnswerOf<typeof getBalanceHistory>['changes'][number]
type StepOf<R> = R extends { readonly closing: string } ? R : never
type BalanceStep = StepOf<Row>
type BalanceChange = Exclude<Row, BalanceStep>

/** A balance: an owner and a token. */
type BalanceKey = { readonly account: string; readonly token: string }

/** A balance over time: by steps, or, if all changes are on the current day, its latest changes. */
type BalanceHistory =
  | { readonly steps: Steps; readonly rows: readonly BalanceStep[] }
  | { readonly steps: undefined; readonly rows: readonly BalanceChange[] }

/** Maximum number of changes when the history has less than two days. */
const CHANGES = '10'

const isStep = (row: Row): row is BalanceStep => 'closing' in row

/**
 * Time of an owner's first change of a token, ISO-8601 UTC; undefined: there is none. Throws Failure
 * 'not_found' for an unknown owner.
 */
export async function findFirstChange(visit: Visit, of: BalanceKey): Promise<string | undefined> {
  const { changes } = await visit.ask(getBalanceHistory, { ...of, sort: 'asc', page: '1', size: '1' })
  return changes.find((row): row is BalanceChange => !isStep(row))?.created_at
}

/** The balance since the first change, oldest first. */
export async function readBalanceHistory(visit: Visit, of: BalanceKey, first: string): Promise<BalanceHistory> {
  const isYoung = first.slice(0, 'yyyy-mm-dd'.length) === toIso(visit.at.time).slice(0, 'yyyy-mm-dd'.length)
  const steps = isYoung ? undefined : selectStepsSince(visit, first)
  const asked = steps ?? { page: '1', size: CHANGES }
  const { changes } = await visit.ask(getBalanceHistory, { ...of, ...asked })
  if (steps !== undefined) return { steps, rows: nameSteps(steps.step, changes.filter(isStep).toReversed()) }
  return { steps, rows: changes.flatMap(row => (isStep(row) ? [] : [row])).toReversed() }
}

type BalanceProps = {
  readonly visit: Visit
  readonly history: BalanceHistory
  readonly token: string
  readonly aside?: Html
}

/** The balance as a plot, with the exact figures in a collapsed table. */
export function BalanceOverTime({ visit, history, token, aside = '' }: BalanceProps): Html {
  const sign = revealInvisible(token === 'iost' ? 'IOST' : token)
  const title = { en: `Balance over time (${sign})`, zh: `余额走势（${sign}）` }
  return (
    <Card visit={visit} id="balance-over-time" title={title} aside={aside}>
      {history.steps === undefined ? (
        <Changes visit={visit} title={title} rows={history.rows} />
      ) : (
        <BySteps visit={visit} title={title} steps={history.steps} rows={history.rows} />
      )}
    </Card>
  )
}

/** A link to the page of an owner's balance of a token. */
export const AllChanges = ({ visit, of }: Props<{ of: BalanceKey }>): Html => (
  <a href={toHref(visit, formatBalancePath(of.account, of.token))} safe>
    {visit.say({ en: 'History →', zh: '历史 →' })}
  </a>
)

type StepsProps = {
  readonly visit: Visit
  readonly title: Text
  readonly steps: Steps
  readonly rows: readonly BalanceStep[]
}

const BySteps = ({ visit, title, steps: { step }, rows }: StepsProps): Html => (
  <>
    <Note visit={visit} kind="about" text={{ en: 'Available and frozen together.', zh: '可用与冻结合计。' }} />
    <LevelPlot visit={visit} title={title} series={rows.map(({ date, closing }) => ({ date, value: closing }))} />
    <StepTable
      visit={visit}
      step={step}
      rows={rows}
      figures={[
        ['In', '流入', row => row.in],
        ['Out', '流出', row => row.out],
        ['At the end', '期末', row => row.closing],
      ]}
    />
  </>
)

/** Available and frozen together, as in a balance by steps. */
const sumBalance = ({ balance, frozen }: BalanceChange): string => sumDecimals([balance, frozen])

function Changes({ visit, title, rows }: Props<{ title: Text; rows: readonly BalanceChange[] }>): Html {
  return (
    <>
      <Note
        visit={visit}
        kind="about"
        text={{
          en: `Available and frozen together after ${rows.length === 1 ? 'its only change' : `each of its latest ${rows.length} changes, numbered from the oldest`}; its history is shorter than two days.`,
          zh: `最近 ${rows.length} 次变动后的可用与冻结合计，从最早的起编号；历史尚不足两天。`,
        }}
      />
      <LevelPlot
        visit={visit}
        title={title}
        series={rows.map(row => ({ date: formatTime(row.created_at), value: sumBalance(row) }))}
      />
      <FoldedRows
        visit={visit}
        title={{ en: 'Change by change', zh: '逐次变动' }}
        rows={rows.map((row, at) => ({ ...row, number: at + 1 })).toReversed()}
        isNarrow
        columns={[
          ['No.', '序号', row => <Place value={row.number} />],
          ['Time (UTC)', '时间（UTC）', row => <Ago visit={visit} iso={row.created_at} />],
          ['Change', '变动', row => <Change value={row.change} />, 'digits end'],
          ['Balance', '余额', row => <Count value={sumBalance(row)} />, 'digits end'],
        ]}
      />
    </>
  )
}
