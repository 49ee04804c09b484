import type { Text } from '#actions/define.ts'
import type { Failure } from '#failure/failure.ts'

export type FormField = {
  /** Its parameter in the page's address. */
  readonly name: string
  /** The parameter of the API that it becomes. */
  readonly parameter: string
  readonly label: Text
  /** A checked box has the value 1. */
  readonly type: 'text' | 'date' | 'number' | 'checkbox' | 'select'
}

/** A field that has the name of its parameter. */
export const field = (name: string, type: FormField['type'], label: Text): FormField => ({
  name,
  type,
  label,
  parameter: name,
})

export const RANGE_FIELDS: readonly FormField[] = [
  {
    name: 'from',
    parameter: 'start_date',
    type: 'date',
    label: { en: 'From day (UTC)', zh: '起始日期（UTC）' },
  },
  {
    name: 'to',
    parameter: 'end_date',
    type: 'date',
    label: { en: 'To day (UTC)', zh: '结束日期（UTC）' },
  },
  field('start_block', 'number', { en: 'From block', zh: '起始区块' }),
  field('end_block', 'number', { en: 'To block', zh: '结束区块' }),
]

export const PERIOD_FIELDS: readonly FormField[] = [
  field('start_date', 'date', { en: 'From', zh: '起' }),
  field('end_date', 'date', { en: 'To', zh: '止' }),
]

/** The field for a page of a list. */
const PAGE_FIELD: FormField = field('page', 'number', { en: 'Page', zh: '页码' })

const PARTY = field('counterparty', 'text', { en: 'Party', zh: '参与方' })
const FAILED = field('failed', 'checkbox', { en: 'Failed only', zh: '只看失败' })
const ACTION: Text = { en: 'Action', zh: '方法' }

export const ACCOUNT_FIELDS: readonly FormField[] = [
  field('direction', 'select', { en: 'Direction', zh: '方向' }),
  field('counterparty', 'text', { en: 'Counterparty', zh: '对方' }),
  field('token', 'select', { en: 'Token', zh: '代币' }),
  field('func_name', 'text', ACTION),
  ...RANGE_FIELDS,
  FAILED,
]

export const CONTRACT_FIELDS: readonly FormField[] = [
  field('action_name', 'select', ACTION),
  PARTY,
  ...RANGE_FIELDS,
  FAILED,
]

/** The fields that narrow a token's movements. */
export const TOKEN_FIELDS: readonly FormField[] = [PARTY, field('func_name', 'select', ACTION), ...RANGE_FIELDS]

export const listFieldNames = (fields: readonly FormField[]): readonly string[] => fields.map(({ name }) => name)

/** Parameters of a page's address. */
type Address = { readonly query: URLSearchParams }

/** The text in a field, without the blanks that a pasted name may have around it; `""`: the field is empty. */
export const getQueryText = ({ query }: Address, name: string): string => (query.get(name) ?? '').trim()

/** The filled fields of an address, as parameters of the API. The API refuses an invalid value. */
export const readGivenFields = (address: Address, fields: readonly FormField[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    fields.flatMap(({ name, parameter }) => {
      const text = getQueryText(address, name)
      return text === '' ? [] : [[parameter, text]]
    }),
  )

/**
 * A refusal of the API with the labels of the page's fields in place of the parameters that they become.
 * @param message of the refusal, in the visitor's language.
 */
export const nameFieldsInRefusal = (
  { lang }: { readonly lang: keyof Text },
  { message, details }: Pick<Failure, 'message' | 'details'>,
  fields: readonly FormField[],
): string =>
  // Other refusals name things of the chain, which may have the name of a parameter.
  details['parameter'] === undefined
    ? message
    : [...fields, PAGE_FIELD].reduce(
        (text, { parameter, label }) => text.replaceAll(createParameterPatterns(parameter)[lang], `“${label[lang]}”`),
        message,
      )

/** A parameter in a message. A value stands behind "is" or "值": it may be the name of a parameter, too. */
const createParameterPatterns = (parameter: string) =>
  ({
    en: new RegExp(`(?<! is )(?:parameters? )?'${parameter}'`, 'gi'),
    // Chinese quotation marks stand without spaces.
    zh: new RegExp(`(?<!值为? ?)(?: ?参数)? ?'${parameter}' ?`, 'g'),
  }) as const
