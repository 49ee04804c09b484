import type { Text } from '#actions/text.ts'
import type { Visit } from '../page.ts'

/** A figure; the unit is `""` for counts. */
const figure = <N extends string>(name: N, title: Text, unit = '') => ({ name, title, unit })

/** Every figure of get-daily-statistics, in display order. */
export const FIGURES = [
  figure('transactions', { en: 'Transactions', zh: '交易数' }),
  figure('failed_transactions', { en: 'Failed transactions', zh: '失败的交易' }),
  figure('actions', { en: 'Actions', zh: '方法调用数' }),
  figure('token_movements', { en: 'Token movements', zh: '代币变动次数' }),
  figure('iost_moved', { en: 'IOST moved, with issued and destroyed', zh: 'IOST 变动总额（含增发与销毁）' }, 'IOST'),
  figure('new_accounts', { en: 'New accounts', zh: '新账户' }),
  figure('new_contracts', { en: 'New contracts', zh: '新合约' }),
  figure('blocks', { en: 'Blocks', zh: '区块数' }),
  figure('highest_tps', { en: 'Peak transactions per second', zh: '单秒最高交易数' }),
  figure('gas_usage', { en: 'Gas used', zh: '消耗的 gas' }, 'gas'),
  figure('votes', { en: 'Votes at the end of the day', zh: '当日结束时的总票数' }, 'IOST'),
  figure('ram_buy_price', { en: 'RAM buy price per byte', zh: '每字节 RAM 买入价' }, 'IOST'),
  figure('ram_sell_price', { en: 'RAM sell price per byte', zh: '每字节 RAM 卖出价' }, 'IOST'),
  figure('ram_fee', { en: 'RAM fees', zh: 'RAM 手续费' }, 'IOST'),
] as const

type FigureName = (typeof FIGURES)[number]['name']

/** A row of get-daily-statistics. */
export type Daily = Readonly<Record<FigureName, string | number>> & {
  readonly date: string
  readonly complete: boolean
}

/** The rows of get-daily-statistics for the whole chain, that is, of a call without account and token. */
export const chainDays = <D extends { readonly date: string }>(days: readonly D[]) =>
  days.filter((day): day is Extract<D, { readonly blocks: number }> => 'blocks' in day)

/** The series of one figure by day. */
export const seriesOf = (
  days: readonly Daily[],
  name: FigureName,
): readonly { readonly date: string; readonly value: string }[] =>
  days.map(day => ({ date: day.date, value: String(day[name]) }))

/** The message that no days match. Later days may exist on the chain and not be loaded yet. */
export const noDays = ({ at: { height } }: Pick<Visit, 'at'>): Text => ({
  en: `No block up to ${height} is of these days.`,
  zh: `截至区块 ${height}，这些日期没有区块。`,
})
