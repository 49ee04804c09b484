import { Type } from '@sinclair/typebox'
import type { Options } from './options.ts'
import { defineParameter } from './parameters.ts'
import { badRequest } from './refusals.ts'

/** The columns of an export, in the form of an accounting program. */
export type CsvLayout = 'koinly' | 'ledger'

/** Parameter of lists with exports for accounting: in every layout, or only as movements without balances. */
export function csvLayout<const L extends CsvLayout>(...layouts: readonly L[]) {
  const isWhole = layouts.length > 1
  return Type.Optional(
    defineParameter<L>({
      type: 'string',
      description: {
        en: `Only with format=csv: the columns that accounting programs read, in place of the fields of rows, without rows that changed nothing. koinly has Date, Sent Amount, Sent Currency, Received Amount, Received Currency, Fee Amount, Fee Currency, Net Worth Amount, Net Worth Currency, Label, Description and TxHash${isWhole ? '; ledger has date, description, change, balance, token and tx, where balance is what was available and frozen together' : ''}. Times are UTC, and a net worth is given where the operator has a price for the day.`,
        zh: `仅用于 format=csv：以记账软件所用的列代替记录的字段，不含没有变动的记录。koinly 的列为 Date、Sent Amount、Sent Currency、Received Amount、Received Currency、Fee Amount、Fee Currency、Net Worth Amount、Net Worth Currency、Label、Description、TxHash${isWhole ? '；ledger 的列为 date、description、change、balance、token、tx，其中 balance 为可用与冻结合计' : ''}。时间为 UTC；运营者有当日价格时给出净值。`,
      },
      rule: isWhole
        ? { en: layouts.join(' or '), zh: layouts.join(' 或 ') }
        : {
            en: 'koinly; ledger, which has balances, belongs to get-balance-history',
            zh: 'koinly；带余额的 ledger 由 get-balance-history 提供',
          },
      pattern: `^(?:${layouts.join('|')})$`,
      values: layouts,
      example: layouts[0] ?? '',
      foreignNames: ['layout', 'template', 'csv_format', 'software'],
      read: text => layouts.find(layout => layout === text),
    }),
  )
}

/** Throws 'bad_request' if columns are given for an answer that is not CSV. */
export function checkCsv(csv: unknown, { export: format }: Pick<Options, 'export'>): void {
  if (format === 'csv') return
  throw badRequest(
    {
      en: `Parameter 'csv' is '${csv}', which chooses the columns of format=csv; add format=csv, or leave it out.`,
      zh: `参数 'csv' 的值为 '${csv}'，用于选择 format=csv 的列；请加上 format=csv，或去掉此参数。`,
    },
    { parameter: 'csv' },
  )
}
