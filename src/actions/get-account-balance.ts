import { Type } from '@sinclair/typebox'
import { balanceId, balances } from '#indices/balance.ts'
import type { Held } from '#indices/series-entry.ts'
import type { View } from '#store/port.ts'
import { defineAction } from './define.ts'
import { resolveOwner } from './find/owner.ts'
import { findMoment } from './find/point.ts'
import { readHeld } from './find/series.ts'
import { owner } from './request/parameter-types.ts'
import { checkPoint, point } from './request/range.ts'
import { ballot, readBallots, readPastBallots } from './shape/holdings.ts'
import { defineRows, described, exact, pointFields, pointShown, shape, text } from './shape/results.ts'
import { toIost } from './shape/values.ts'

const frozen = shape({
  total: exact('Sum of the list, in IOST.', '列表合计（IOST）。'),
  list: defineRows(
    shape({
      amount: exact('IOST.', '数量（IOST）。'),
      time: text(
        'Time when the amount becomes available, nanoseconds since 1970.',
        '解冻时间（自 1970 年起的纳秒数）。',
      ),
    }),
    'Amounts still frozen, in the order they were received.',
    '仍处于冻结状态的金额，按收到的先后排列。',
  ),
})
const locked = shape({
  total: exact('Sum of the list, in IOST.', '列表合计（IOST）。'),
  list: defineRows(ballot, 'Producers the account votes for.', '账户所投的生产者。'),
})

/** IOST of an owner: available, frozen and locked in votes. */
export const getAccountBalance = defineAction({
  module: 'account',
  action: 'get-account-balance',
  title: { en: 'Account balance', zh: '账户余额' },
  summary: {
    en: 'IOST balance of an account, a contract, a public key that owns tokens, or 0: available, frozen and locked in votes. Frozen amounts that are due count as available. Votes are sorted by amount, largest first, then by producer. With at_block or at_time all of it is as it was at that point.',
    zh: '账户、合约、持有代币的公钥或 0 的 IOST 余额：可用、冻结、投票锁定。已到期的冻结金额计入可用余额。投票按票数从大到小排列，票数相同时按生产者名称排列。提供 at_block 或 at_time 时，所有数值均为当时的状态。',
  },
  params: Type.Object({ account: owner(), ...point }),
  check: checkPoint,
  result: shape({
    name: text('Name of the account or other owner.', '账户或其他持有者的名称。'),
    balance: exact('Available IOST.', '可用的 IOST。'),
    frozen_balance: described(frozen, 'Frozen IOST that is not due yet.', '尚未到期的冻结 IOST。'),
    vote_balance: described(locked, 'IOST locked in votes for producers.', '投票锁定的 IOST。'),
    ...pointFields,
  }),
  run: async (context, { account, ...asked }) => {
    const { view } = context
    const [name, then] = await Promise.all([resolveOwner(context, account), findMoment(context, asked)])
    const [held, { total, ballots }] = await Promise.all(
      then === undefined
        ? [heldNow(view, name), readBallots(view, name)]
        : [readHeld(view, balanceId('iost', name), then.height), readPastBallots(view, name, then.height)],
    )
    return {
      name,
      balance: toIost(held.available),
      frozen_balance: {
        total: toIost(held.frozen),
        list: held.list.map(([amount, time]) => ({ amount: toIost(BigInt(amount)), time })),
      },
      vote_balance: { total: toIost(total), list: ballots },
      ...pointShown(then),
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub' },
})

async function heldNow(view: View, owner: string): Promise<Held> {
  const balance = await view.get(balances, balanceId('iost', owner))
  return {
    available: balance?.amount ?? 0n,
    frozen: balance?.frozen ?? 0n,
    list: balance?.frozen_list ?? [],
  }
}
