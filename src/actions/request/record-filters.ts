import { Type } from '@sinclair/typebox'
import { parseUnits } from '#chain/amount.ts'
import { splitFuncName } from '#chain/effects.ts'
import type { Text } from '../define.ts'
import { ACTION, CONTRACT, owner, tokenAs } from './parameter-types.ts'
import { defineListParameter, defineParameter, flag, getParameterSpec, type ParameterSpec } from './query.ts'
import { checkHeadRange, checkRange, type RowRange } from './range.ts'
import { badRequest } from './refusals.ts'
import type { RowId } from './row-id.ts'

/** A contract and one of its actions, as named by a call. */
type Func = { readonly contract: string; readonly action: string }

export type RecordFilters = {
  readonly direction?: 'in' | 'out' | undefined
  readonly counterparty?: string | undefined
  readonly token?: readonly string[] | undefined
  readonly func_name?: Func | undefined
  readonly failed?: number | undefined
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
        const { contract, name: action } = splitFuncName(text)
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

export const textFilters = {
  memo: memoText(
    {
      description: {
        en: 'Return only transfers whose memo is exactly this text; an empty value finds those without one.',
        zh: '只返回备注与此文本完全相同的转账；空值表示没有备注的转账。',
      },
      foreignNames: ['remark', 'note', 'message', 'comment', 'tag'],
    },
    0,
  ),
  memo_prefix: memoText(
    {
      description: {
        en: 'Return only transfers whose memo begins with this text.',
        zh: '只返回备注以此文本开头的转账。',
      },
      foreignNames: ['memo_begins', 'memo_starts_with', 'memo_start', 'memo_like'],
    },
    1,
  ),
  min_amount: Type.Optional(
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
  ),
}

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
  const tokens = token && [...new Set(token)]
  const filters = { direction, counterparty, token: tokens, func_name, failed, memo, memo_prefix, min_amount }
  return { filters, asked }
}

/** Parameters of a list of records that are checked together. */
type RequestedRange = RecordFilters &
  RowRange & { readonly head: number; readonly after?: RowId | undefined; readonly page: bigint }

/** Filters that only rows of token movements pass. */
const MOVING = ['direction', 'token', 'memo', 'memo_prefix'] as const

/** Throws 'bad_request' for filters that no row can pass together: an empty list would hide the mistake. */
export function checkFilters(filters: RecordFilters): void {
  const moving = MOVING.find(name => filters[name] !== undefined)
  if (filters.failed === 1) {
    const other = moving ?? (filters.min_amount === undefined ? undefined : 'min_amount')
    if (other !== undefined)
      throw badRequest(
        {
          en: `Parameters 'failed' and '${other}' cannot be combined: a transaction that failed moved nothing; leave one of them out.`,
          zh: `参数 'failed' 与 '${other}' 不能同时使用：失败的交易没有任何代币变动；请去掉其中一个。`,
        },
        { parameter: other },
      )
  }
  const contract = filters.func_name?.contract
  if (contract !== undefined && moving !== undefined) checkMoves(contract, 'func_name', moving)
}

/** Throws 'bad_request' if rows of a contract cannot pass a filter for movements. */
function checkMoves(contract: string, parameter: string, moving: string): void {
  if (contract === 'token.iost') return
  throw badRequest(
    {
      en: `Parameter '${moving}' does not go with '${parameter}' of ${contract}: only rows of token.iost move tokens, and tokens moved by a call are listed in rows of their own; leave '${parameter}' out, or '${moving}'.`,
      zh: `参数 '${moving}' 不能用于 '${parameter}' 为 ${contract} 的查询：只有 token.iost 的记录有代币变动，其他合约的调用所引起的变动另有记录；请去掉 '${parameter}' 或 '${moving}'。`,
    },
    { parameter: moving },
  )
}

/** `checkFilters` for the rows of a contract, where `direction` also needs a `counterparty`. */
export function checkContractFilters(contract: string, filters: RecordFilters): void {
  checkFilters(filters)
  const moving = MOVING.find(name => filters[name] !== undefined)
  if (moving !== undefined) checkMoves(contract, 'contract', moving)
  checkSide(filters)
}

/** Throws 'bad_request' for a direction without an account as its reference. */
export function checkSide({ direction, counterparty }: RecordFilters): void {
  if (direction === undefined || counterparty !== undefined) return
  throw badRequest(
    {
      en: `Parameter 'direction' is '${direction}', which says whether tokens came from 'counterparty' (in) or went to it (out); give 'counterparty', or request get-account-tx of the account.`,
      zh: `参数 'direction' 的值为 '${direction}'，它表示代币由 'counterparty' 转出（in）还是转入 'counterparty'（out）；请提供 'counterparty'，或改用该账户的 get-account-tx。`,
    },
    { parameter: 'direction' },
  )
}

/**
 * Checks the range of a list of records. Searched rows have no number, and their pages must be read one after
 * another: throws 'bad_request' for parameters that need numbers.
 */
export function checkRecordRange(requested: RequestedRange, isSearched: boolean): void {
  if (!isSearched) {
    checkHeadRange(requested)
    return
  }
  checkRange(requested)
  if (requested.head === 1) throw notSearched('head', HEAD)
  if (requested.page > 1n) throw notSearched('page', PAGE)
  for (const name of ['start_seq', 'end_seq'] as const) if (requested[name] !== undefined) throw notSearched(name, SEQ)
}

const notSearched = (name: string, { en, zh }: Text) =>
  badRequest(
    {
      en: `Parameter '${name}' does not go with these filters, whose rows are searched for: ${en}`,
      zh: `参数 '${name}' 不能与这些筛选条件同时使用，因为记录需要逐条查找：${zh}`,
    },
    { parameter: name, searched: 1 },
  )

const HEAD: Text = {
  en: 'such a search finds irreversible rows only; leave it out, or ask with a single filter.',
  zh: '这种方式只能查到不可逆的记录；请去掉此参数，或只使用一个筛选条件。',
}
const PAGE: Text = {
  en: "pages follow one another; request the first one, then continue with 'after' and the value of 'next' in the answer.",
  zh: "各页须依次读取；请先请求第一页，再以 'after' 传入响应中的 'next' 继续。",
}
const SEQ: Text = {
  en: "they have no seq; continue with 'after' and the id of the last row, or limit the blocks or the time.",
  zh: "这些记录没有 seq；请以 'after' 传入最后一条记录的 id 继续，或限定区块或时间。",
}
