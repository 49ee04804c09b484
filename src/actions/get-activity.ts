import { Type } from '@sinclair/typebox'
import { listOf } from '#indices/list.ts'
import { defineAction } from './define.ts'
import { countRecordsByDay, MAX_DAYS, requestedDays } from './find/days.ts'
import { requireContract, resolveOwner } from './find/owner.ts'
import { buildWholeList } from './list/paging.ts'
import { contractList } from './list/record-plan.ts'
import { actionName, contract, owner } from './request/parameter-types.ts'
import { createDateCheck, DAYS_DEFAULT, dates } from './request/range.ts'
import { count, isDayOver, listOfRows, shape, utcDay } from './shape/results.ts'

const checkDates = createDateCheck(MAX_DAYS)

const accountDay = shape({
  date: utcDay,
  complete: isDayOver,
  records: count(
    'Rows of that day in get-account-tx, failed transactions included.',
    '该日在 get-account-tx 中的记录数，含失败的交易。',
  ),
})

/** Number of an account's records by day. */
export const getAccountActivity = defineAction({
  module: 'account',
  action: 'get-account-activity',
  title: { en: 'Account activity', zh: '账户活跃度' },
  summary: {
    en: `How many records an account has on each UTC day of the range, oldest first, both ends included, at most ${MAX_DAYS} days. Records are the rows of get-account-tx. Days before the first block and after the last published one are left out; a day without records has 0. Without end_date the range ends with the day of the last published block, without start_date it has ${DAYS_DEFAULT} days. Accepts the same names as get-account-tx.`,
    zh: `区间内每个 UTC 日该账户的记录数，从早到晚排列，含首尾两日，最多 ${MAX_DAYS} 天。记录即 get-account-tx 的行。首个区块之前与最新已发布区块之后的日期不列出；没有记录的日期为 0。不提供 end_date 时截至最新已发布区块所在日期，不提供 start_date 时为 ${DAYS_DEFAULT} 天。可查询的名称与 get-account-tx 相同。`,
  },
  params: Type.Object({ account: owner(), ...dates }),
  check: checkDates,
  result: listOfRows('days', accountDay, { en: 'Days.', zh: '日期列表。' }),
  list: 'days',
  run: async (context, { account, ...given }) => {
    const name = await resolveOwner(context, account)
    const days = await requestedDays(context, given, checkDates)
    return buildWholeList('days', await countRecordsByDay(context.view, listOf.account(name), days))
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub', start_date: '2026-11-20', end_date: '2026-11-21' },
})

const contractDay = shape({
  date: utcDay,
  complete: isDayOver,
  records: count(
    'Rows of that day in get-contract-tx, failed transactions included.',
    '该日在 get-contract-tx 中的记录数，含失败的交易。',
  ),
})

/** Records of a contract by day. */
export const getContractActivity = defineAction({
  module: 'contract',
  action: 'get-contract-activity',
  title: { en: 'Contract activity', zh: '合约活跃度' },
  summary: {
    en: `How many records a contract, or with action_name one action of it, has on each UTC day of the range, oldest first, both ends included, at most ${MAX_DAYS} days. Records are the rows of get-contract-tx. Days before the first block and after the last published one are left out; a day without records has 0. Without end_date the range ends with the day of the last published block, without start_date it has ${DAYS_DEFAULT} days.`,
    zh: `区间内每个 UTC 日该合约的记录数；指定 action_name 时为该方法的记录数。从早到晚排列，含首尾两日，最多 ${MAX_DAYS} 天。记录即 get-contract-tx 的行。首个区块之前与最新已发布区块之后的日期不列出；没有记录的日期为 0。不提供 end_date 时截至最新已发布区块所在日期，不提供 start_date 时为 ${DAYS_DEFAULT} 天。`,
  },
  params: Type.Object({ contract: contract(), action_name: actionName(), ...dates }),
  check: checkDates,
  result: listOfRows('days', contractDay, { en: 'Days.', zh: '日期列表。' }),
  list: 'days',
  run: async (context, { contract: id, action_name, ...given }) => {
    await requireContract(context, id)
    const days = await requestedDays(context, given, checkDates)
    return buildWholeList('days', await countRecordsByDay(context.view, contractList(id, action_name), days))
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { contract: 'token.iost', start_date: '2026-11-20', end_date: '2026-11-21' },
})
