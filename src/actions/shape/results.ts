import { type TArray, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import { toIso } from '#chain/time.ts'
import type { Text } from '../define.ts'

/** Field types of answers. The descriptions are product text: they become the reference. */

const ZH = 'x-description-zh'
/** Marks numbers that `numbers=string` writes as strings. */
export const EXACT = 'x-exact'
/** Marks fields that rows have only with `head=1`. */
export const HEAD_ONLY = 'x-head-only'

/** Marks a field that rows of a whole list have only if they were found by a search. */
export const SEARCHED_ONLY = 'x-searched-only'

const about = (en: string, zh: string) => ({ description: en, [ZH]: zh })

/** The description of a field of an answer; undefined when the field has none. */
export function findDescription(schema: TSchema): Text | undefined {
  const zh: unknown = schema[ZH]
  return schema.description === undefined || typeof zh !== 'string' ? undefined : { en: schema.description, zh }
}

export const text = (en: string, zh: string) => Type.String(about(en, zh))
export const flag = (en: string, zh: string) => Type.Boolean(about(en, zh))
/** A count, height or position: a JSON number even with `numbers=string`. */
export const count = (en: string, zh: string) => Type.Integer({ ...about(en, zh), minimum: 0 })
/** A number that our own programs read as a string, in the form of `numbers=string`. */
const exactNumber = (about: object) => Type.Number({ ...about, [EXACT]: true }) as TSchema as TUnsafe<string>
/** An amount, rate, price, gas figure or time, with all digits. */
export const exact = (en: string, zh: string) => exactNumber(about(en, zh))
/** `exact`, or null if the value is unknown. */
export const sourced = (en: string, zh: string) => Type.Union([exactNumber({}), Type.Null()], about(en, zh))

/** `count`, or null if the value is unknown. */
export const sourcedCount = (en: string, zh: string) => Type.Union([Type.Integer(), Type.Null()], about(en, zh))

/** An object with exactly these fields. */
export const shape = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })
export const described = <S extends TSchema>(schema: S, en: string, zh: string): S => ({
  ...schema,
  ...about(en, zh),
})
/** An object whose keys are names of the chain. */
export const byName = <E extends TSchema>(entry: E, en: string, zh: string) =>
  Type.Record(Type.String(), entry, about(en, zh))
export const defineRows = <R extends TSchema>(row: R, en: string, zh: string) => Type.Array(row, about(en, zh))

const pageFields = {
  page: count('Requested page.', '请求的页码。'),
  size: count('Maximum rows per page.', '每页最大行数。'),
  total: count('Total number of rows in the list.', '列表总行数。'),
}

/** A list: its rows under the list's name, with page, size and total. */
export const listOfRows = <const N extends string, R extends TSchema>(name: N, row: R, { en, zh }: Text) =>
  shape({ ...({ [name]: defineRows(row, en, zh) } as Record<N, TArray<R>>), ...pageFields })

type NumberedTexts<F, R> = Text & {
  /** The schema of a row, from that of its fields; absent: the same. */
  readonly rowFrom?: (fields: F) => R
}

/** The answers of a list whose rows have a number, `seq`: with `compat=iostabc` they have none. */
export function numberedLists<const N extends string, P extends TProperties, R extends TSchema = TObject<P>>(
  name: N,
  fields: P & { readonly seq: TSchema },
  { rowFrom = row => row as TSchema as R, ...texts }: NumberedTexts<TObject<P>, R>,
) {
  const { seq: _, ...others } = fields
  const listFor = (row: TProperties) => listOfRows(name, rowFrom(shape(row) as TObject<P>), texts)
  return { result: listFor(fields), compatResult: listFor(others) }
}

const searchFields = {
  total: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    ...about(
      'Total number of rows in the list; null where rows are searched for, as long as their number is not known.',
      '列表总行数；需要逐条查找且行数未知时为 null。',
    ),
  }),
  total_reason: Type.Optional(
    text(
      'Only where total is null: searched, since the rows that pass the filters are not counted in advance.',
      '仅在 total 为 null 时出现：searched，表示符合筛选条件的记录没有预先计数。',
    ),
  ),
  next: Type.Optional(
    text(
      'Only where rows are searched for: where this page ended. Give it as after, with all else unchanged, to go on; without it, this page is the last one.',
      '仅在逐条查找时出现：本页结束的位置。其余参数不变，将其作为 after 传入即可继续；没有此字段即为最后一页。',
    ),
  ),
}

/** A list whose rows may be found by a search. */
export const listOfFound = <const N extends string, R extends TSchema>(name: N, row: R, { en, zh }: Text) =>
  shape({ ...listOfRows(name, row, { en, zh }).properties, ...searchFields })

/** The fields of a list's answer other than its rows and those of its pages. `fields`: by name. */
export const pickOtherFields = (
  fields: Readonly<Record<string, unknown>>,
  list: string | undefined,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name]) => name !== list && !(Object.hasOwn(pageFields, name) || Object.hasOwn(searchFields, name)),
    ),
  )

export const defineCreatedTime = () =>
  text('Block time, ISO-8601 UTC, cut to milliseconds.', '区块时间，ISO-8601 UTC，截断到毫秒。')
/** Answers in the form of the old service have no `seq`. */
export const seq = () =>
  count(
    'Number of the row in this list, from 1 in the order of the chain. It never changes.',
    '该行在此列表中的序号，按链上顺序从 1 开始，永不改变。',
  )
/** `seq` of lists that accept `head`. */
export const irreversibleSeq = () =>
  Type.Optional(
    count(
      'Number of the row in this list, from 1 in the order of the chain. It never changes. Rows with the status PACKED have none, nor have rows that were searched for.',
      '该行在此列表中的序号，按链上顺序从 1 开始，永不改变。状态为 PACKED 的行和逐条查找到的行没有序号。',
    ),
  )
export const txHash = () => text('Transaction hash.', '交易哈希。')

/** Names of the fields of a list's rows, in order; undefined: rows are single values. */
export type Columns = {
  /** Fields of rows of a whole list. Its rows are irreversible, so fields of `head=1` are left out. */
  readonly usual: readonly string[]
  /** Additional fields of rows that were found by a search. */
  readonly searched: readonly string[]
}

/** The alternative schemas of a row, the usual one first. */
const listVariants = (row: TSchema | undefined): readonly TSchema[] =>
  row === undefined ? [] : ((row['anyOf'] as readonly TSchema[] | undefined) ?? [row])

/** The fields of the rows of a whole list, from the schema of its answer. */
export function findColumns(result: TSchema, list: string): Columns | undefined {
  const rows = (result['properties'] as Readonly<Record<string, TSchema>>)[list]
  const [row] = listVariants(rows?.['items'] as TSchema | undefined)
  const fields = row?.['properties'] as Readonly<Record<string, TSchema>> | undefined
  if (fields === undefined) return undefined
  const names = Object.keys(fields).filter(name => fields[name]?.[HEAD_ONLY] !== true)
  const isSearched = (name: string) => fields[name]?.[SEARCHED_ONLY] === true
  return { usual: names.filter(name => !isSearched(name)), searched: names.filter(isSearched) }
}

/** Fields of an answer about a past state. */
export const pointFields = {
  at_block: Type.Optional(
    count(
      'The answer is the state after this block; only with at_block or at_time.',
      '所有数值均为该区块之后的状态；仅在提供 at_block 或 at_time 时返回。',
    ),
  ),
  at_time: Type.Optional(
    text('Time of that block, ISO-8601 UTC, cut to milliseconds.', '该区块的时间，ISO-8601 UTC，截断到毫秒。'),
  ),
}

/** The values of `pointFields`; an answer about the present has none. */
export const pointShown = (then: { readonly height: number; readonly time: bigint } | undefined) =>
  then === undefined ? {} : { at_block: then.height, at_time: toIso(then.time) }

/** The first fields of each row that is a step of a history. */
export const stepFields = {
  date: text('Only with step: first UTC day of the step.', '仅在使用 step 时返回：该周期的首个 UTC 日期。'),
  complete: flag(
    'Only with step: whether the step is over and complete: false for the step of the last published block, whose figures are preliminary, and for a step within which a range of blocks or times begins or ends.',
    '仅在使用 step 时返回：该周期是否已结束且完整；最新已发布区块所在的周期为 false（数值截至该区块），区块或时间区间在其中间开始或结束的周期也为 false。',
  ),
}

/** The first two fields of each day's row. */
export const utcDay = text('UTC day, by block time.', 'UTC 日期，按区块时间计。')
export const isDayOver = flag(
  'Whether the day is over: false for the day of the last published block, whose figures are preliminary.',
  '该日是否已结束：最新已发布区块所在的日期为 false，其数值截至该区块。',
)
