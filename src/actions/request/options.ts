import { Type } from '@sinclair/typebox'
import type { Compat, Text } from '../define.ts'
import { defineParameter, findSingleValue, type Query } from './query.ts'
import { badRequest, quoteGiven } from './refusals.ts'

/** The options for the form of an answer, the same for every action. */
export type Options = {
  readonly lang: 'en' | 'zh'
  /** `bare`: the resource's fields at top level. */
  readonly format: 'envelope' | 'bare'
  readonly compat: Compat
  /** `string`: numbers that may exceed a double are written as text. */
  readonly numbers: 'number' | 'string'
  /** All rows of a list in this format, instead of an answer. */
  readonly export?: ExportFormat
  /** Rows of a list as they arrive, instead of an answer. */
  readonly isFeed?: true
}

/** The options that always have a value. */
type Always = Required<Omit<Options, 'export' | 'isFeed'>>

/** Further values of `format`: all rows of a list, streamed as they are read. */
export const EXPORT_FORMATS = ['ndjson', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
/** The value of `format` for a feed: rows of a list as they arrive. */
export const FEED_FORMAT = 'sse'

/** The server's defaults for options that a request omits. */
export type OptionDefaults = Pick<Options, 'format' | 'compat'>

export const OPTION_VALUES: { readonly [K in keyof Always]: readonly Always[K][] } = {
  lang: ['en', 'zh'],
  format: ['envelope', 'bare'],
  compat: ['none', 'iostabc'],
  numbers: ['number', 'string'],
}

export const OPTION_TEXTS: { readonly [K in keyof Always]: Text } = {
  lang: {
    en: 'Language of messages. If it is not given, Accept-Language decides.',
    zh: '消息的语言。未提供时由 Accept-Language 决定。',
  },
  format: {
    en: 'envelope returns {code, message, data}; bare returns the fields of the resource at the top level. For actions that return a list, ndjson and csv return all rows, of one height. For lists that can be followed, sse returns their rows as events, and then each new row.',
    zh: 'envelope 返回 {code, message, data}；bare 将资源的字段直接放在顶层。对返回列表的接口，ndjson 与 csv 返回同一区块高度的全部记录。对可持续跟踪的列表，sse 以事件流返回记录，并在新记录产生时继续推送。',
  },
  compat: {
    en: 'iostabc returns the response format of the old iostabc interface.',
    zh: 'iostabc 兼容旧版 iostabc 接口的返回格式。',
  },
  numbers: {
    en: 'string returns numbers that may exceed 2^53 or 15 digits as strings. The arguments in data stay as their publisher wrote them.',
    zh: 'string 将可能超过 2^53 或 15 位的数字以字符串返回；data 中的参数保持发布者写入的原样。',
  },
}

/** Language tags for HTML and its headers (BCP 47). */
export const LANGUAGE_TAG = { en: 'en', zh: 'zh-CN' } as const

/**
 * Language of messages: the first valid `lang` of the query, otherwise the best match of Accept-Language,
 * otherwise English. Never fails, so that even a refusal of the request itself has a language.
 */
export function selectLanguage(query: Query, acceptLanguage: string | undefined): 'en' | 'zh' {
  for (const [name, value] of query) if (name === 'lang' && (value === 'en' || value === 'zh')) return value
  return acceptLanguage === undefined ? 'en' : selectAcceptedLanguage(acceptLanguage)
}

/** Options of a request. Throws 'bad_request' with the name of the option and its values. */
export function readOptions(
  query: Query,
  { acceptLanguage, defaults }: { readonly acceptLanguage?: string | undefined; readonly defaults: OptionDefaults },
): Options {
  const format = findSingleValue(query, 'format')
  const whole = EXPORT_FORMATS.find(each => each === format)
  const isFeed = format === FEED_FORMAT
  return {
    lang: readOption(query, 'lang') ?? selectLanguage(query, acceptLanguage),
    format: whole !== undefined || isFeed ? defaults.format : (readOption(query, 'format') ?? defaults.format),
    compat: readOption(query, 'compat') ?? defaults.compat,
    numbers: readOption(query, 'numbers') ?? 'number',
    ...(whole === undefined ? {} : { export: whole }),
    ...(isFeed ? { isFeed } : {}),
  }
}

/** The value of an option; undefined: it is not given. */
function readOption<K extends keyof Always>(query: Query, name: K): Always[K] | undefined {
  const text = findSingleValue(query, name)
  if (text === undefined) return undefined
  const values: readonly Always[K][] = OPTION_VALUES[name]
  const found = values.find(value => value === text)
  if (found !== undefined) return found
  const all = name === 'format' ? [...values, ...EXPORT_FORMATS, FEED_FORMAT] : values
  throw badRequest(
    {
      en: `Parameter '${name}' is ${quoteGiven(text)}; it must be ${formatValueList(all, ', ', ' or ')}.`,
      zh: `参数 '${name}' 的值为 ${quoteGiven(text)}；取值须为：${formatValueList(all, '、', ' 或 ')}。`,
    },
    { parameter: name },
  )
}

const formatValueList = (values: readonly string[], between: string, last: string): string =>
  [values.slice(0, -1).join(between), ...values.slice(-1)].join(last)

/** RFC 9110 12.5.4: the supported language with the highest weight; the first one among equals. */
function selectAcceptedLanguage(header: string): 'en' | 'zh' {
  let best: { readonly lang: 'en' | 'zh'; readonly weight: number } = { lang: 'en', weight: 0 }
  for (const range of header.slice(0, 1000).split(',')) {
    const [tag = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    const weight = parseWeight(parameters)
    const lang = /^zh(?:-|$)/.test(tag) ? 'zh' : /^(?:en(?:-|$)|\*$)/.test(tag) ? 'en' : undefined
    if (lang !== undefined && weight > best.weight) best = { lang, weight }
  }
  return best.lang
}

function parseWeight(parameters: readonly string[]): number {
  const text = parameters.find(parameter => parameter.startsWith('q='))?.slice(2)
  if (text === undefined) return 1
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0
}

/** The columns of an export, in the form of an accounting program. */
type CsvLayout = 'koinly' | 'ledger'

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
