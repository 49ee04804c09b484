import { Type } from '@sinclair/typebox'
import { parseUnits } from '#chain/amount.ts'
import { partsOfFuncName } from '#chain/effects.ts'
import type { Text } from '../text.ts'
import { ACTION, CONTRACT, owner, tokenAs } from './parameter-types.ts'
import { defineListParameter, defineParameter, flag, getParameterSpec, type ParameterSpec } from './parameters.ts'

/** A contract and one of its actions, as named by a call. */
export type Func = { readonly contract: string; readonly action: string }

/** The parsed filters of lists of records. */
export type RecordFilters = {
  readonly direction?: 'in' | 'out' | undefined
  readonly counterparty?: string | undefined
  readonly token?: readonly string[] | undefined
  readonly func_name?: Func | undefined
  readonly failed?: number
  readonly memo?: string | undefined
  readonly memo_prefix?: string | undefined
  /** In units of 10^-18 tokens. */
  readonly min_amount?: bigint | undefined
}

/** Maximum number of decimals of a token amount. */
export const MAX_DECIMALS = 18
/** Maximum length of a memo in a filter, in characters: the chain accepts 512 bytes. */
const MAX_LETTERS = 512

export const direction = (description: Text) =>
  Type.Optional(
    defineParameter<'in' | 'out'>({
      type: 'string',
      description,
      rule: { en: 'in or out', zh: 'in 或 out' },
      pattern: '^(?:in|out)$',
      values: ['in', 'out'],
      example: 'in',
      foreignNames: ['side', 'way', 'incoming', 'outgoing', 'in_out', 'type'],
      read: text => (text === 'in' ? 'in' : 'out'),
    }),
  )

export function counterparty(description: Text) {
  const of = getParameterSpec(owner()) as ParameterSpec<string>
  return Type.Optional(
    defineParameter<string>({
      ...of,
      description,
      foreignNames: ['partner', 'other', 'peer', 'from', 'to', 'sender', 'recipient', 'receiver'],
    }),
  )
}

/** Tokens: a row matches if it moved one of them. */
export const tokens = (description: Text) =>
  Type.Optional(
    defineListParameter(tokenAs(description), {
      description,
      example: 'iost',
      sample: 'token',
      foreignNames: ['symbol', 'tokens', 'symbols', 'coin', 'currency', 'token_name', 'tokenname', 'asset'],
    }),
  )

export const funcName = (description: Text) =>
  Type.Optional(
    defineParameter<Func>({
      type: 'string',
      description,
      rule: {
        en: 'a contract id and an action name joined by /, such as token.iost/transfer',
        zh: '以 / 连接的合约 ID 与方法名，例如 token.iost/transfer',
      },
      pattern: `^${CONTRACT}/${ACTION}$`,
      example: 'token.iost/transfer',
      sample: 'function',
      foreignNames: ['action_name', 'function', 'function_name', 'funcname', 'method', 'abi', 'contract'],
      read: text => {
        const { contract, name: action } = partsOfFuncName(text)
        return { contract, action }
      },
    }),
  )

export const failedOnly = () =>
  flag({
    description: {
      en: 'With 1, only rows of transactions that failed are returned (status_code other than SUCCESS).',
      zh: '为 1 时只返回失败交易的记录（status_code 不是 SUCCESS）。',
    },
    foreignNames: ['status', 'status_code', 'is_failed', 'is_error', 'iserror', 'error'],
  })

const memoText = (about: Pick<ParameterSpec, 'description' | 'foreignNames'>, least: 0 | 1) =>
  Type.Optional(
    defineParameter<string>({
      ...about,
      type: 'string',
      rule: {
        en: `a text of ${least} to ${MAX_LETTERS} characters`,
        zh: `长度为 ${least} 至 ${MAX_LETTERS} 个字符的文本`,
      },
      pattern: `^[\\s\\S]{${least},${MAX_LETTERS}}$`,
      example: 'the last one',
      read: text => text,
    }),
  )

const memo = () =>
  memoText(
    {
      description: {
        en: 'Return only transfers whose memo is exactly this text; an empty value finds those without one.',
        zh: '只返回备注与此文本完全相同的转账；空值表示没有备注的转账。',
      },
      foreignNames: ['remark', 'note', 'message', 'comment', 'tag'],
    },
    0,
  )

const memoPrefix = () =>
  memoText(
    {
      description: {
        en: 'Return only transfers whose memo begins with this text.',
        zh: '只返回备注以此文本开头的转账。',
      },
      foreignNames: ['memo_begins', 'memo_starts_with', 'memo_start', 'memo_like'],
    },
    1,
  )

const minAmount = () =>
  Type.Optional(
    defineParameter<bigint>({
      type: 'string',
      description: {
        en: 'Return only rows with an amount of at least this, in token units, whichever the token.',
        zh: '只返回 amount 不小于此值的记录（代币单位，不区分代币）。',
      },
      rule: {
        en: `a decimal number with at most 19 digits before and ${MAX_DECIMALS} after the point, without sign and exponent, such as 0.5`,
        zh: `十进制数，小数点前最多 19 位、后最多 ${MAX_DECIMALS} 位，不带符号与指数，例如 0.5`,
      },
      pattern: `^[0-9]{1,19}(?:\\.[0-9]{1,${MAX_DECIMALS}})?$`,
      example: '0.5',
      foreignNames: ['amount', 'minamount', 'amount_min', 'min_value', 'minvalue', 'min'],
      read: text => parseUnits(text, MAX_DECIMALS),
    }),
  )

/** Filters that every list of records accepts. */
export const textFilters = { memo: memo(), memo_prefix: memoPrefix(), min_amount: minAmount() }

/** Whether any filter is given. Without one, the rows are those of one list, and no plan is needed. */
export function hasFilters(filters: RecordFilters): boolean {
  const { direction, counterparty, token, func_name, failed, memo, memo_prefix, min_amount } = filters
  return (
    failed === 1 || (direction ?? counterparty ?? token ?? func_name ?? memo ?? memo_prefix ?? min_amount) !== undefined
  )
}

/** Splits the parameters of a list of records into filters, with duplicate tokens removed, and the others. */
export function splitFilters<P extends RecordFilters>(params: P) {
  const { direction, counterparty, token, func_name, failed, memo, memo_prefix, min_amount, ...asked } = params
  const filters: RecordFilters = {
    ...{ direction, counterparty, func_name, memo, memo_prefix, min_amount },
    ...(failed === undefined ? {} : { failed }),
    token: token && [...new Set(token)],
  }
  return { filters, asked }
}
