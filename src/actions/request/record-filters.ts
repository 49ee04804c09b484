import { Type } from '@sinclair/typebox'
import { partsOfFuncName } from '#chain/effects.ts'
import { ACTION, CONTRACT, tokenAs } from './parameter-types.ts'
import { flag, word } from './parameters.ts'
import { badRequest } from './refusals.ts'

/** An action of a contract: what a call names. */
export type Func = { readonly contract: string; readonly action: string }

const funcName = () =>
  Type.Optional(
    word<Func>({
      type: 'string',
      description: {
        en: 'Return only the calls of this action that the account itself sent: contract and action name joined by /, as in func_name of receipts.',
        zh: '只返回该账户自己发起的对此方法的调用：合约与方法名以 / 连接，与收据中的 func_name 相同。',
      },
      rule: {
        en: 'a contract id and an action name joined by /, such as token.iost/transfer',
        zh: '以 / 连接的合约 ID 与方法名，例如 token.iost/transfer',
      },
      pattern: `^${CONTRACT}/${ACTION}$`,
      example: 'token.iost/transfer',
      sample: 'function',
      elsewhere: ['action_name', 'function', 'function_name', 'funcname', 'method', 'abi', 'contract'],
      read: text => {
        const { contract, name: action } = partsOfFuncName(text)
        return { contract, action }
      },
    }),
  )

const failedOnly = () =>
  flag({
    description: {
      en: 'With 1, only rows of transactions that failed are returned (status_code other than SUCCESS).',
      zh: '为 1 时只返回失败交易的记录（status_code 不是 SUCCESS）。',
    },
    elsewhere: ['status', 'status_code', 'is_failed', 'is_error', 'iserror', 'error'],
  })

/** Filters of an account's rows: at most one of them is given. */
export const recordFilters = {
  token: Type.Optional(
    tokenAs({
      en: 'Return only rows that moved this token to or from the account.',
      zh: '只返回该代币转入或转出该账户的记录。',
    }),
  ),
  func_name: funcName(),
  failed: failedOnly(),
}

export type RecordFilters = {
  readonly token?: string | undefined
  readonly func_name?: Func | undefined
  readonly failed: number
}

/** Throws 'bad_request' when two filters are given: there are lists for each of them, none for two together. */
export const checkFilters = ({ token, func_name, failed }: RecordFilters): void => {
  const given = [
    ...(token === undefined ? [] : ['token']),
    ...(func_name === undefined ? [] : ['func_name']),
    ...(failed === 0 ? [] : ['failed']),
  ]
  const [first, second] = given
  if (first === undefined || second === undefined) return
  throw badRequest(
    {
      en: `Parameters '${first}' and '${second}' cannot be combined; give only one of token, func_name and failed=1.`,
      zh: `参数 '${first}' 与 '${second}' 不能同时使用；token、func_name 和 failed=1 只能提供其中一个。`,
    },
    { parameter: second },
  )
}
