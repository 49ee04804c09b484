import { Type } from '@sinclair/typebox'
import { seriesOf } from '#indices/series.ts'
import { heldAt } from '#indices/series-replay.ts'
import { defineAction } from './define.ts'
import { ballotsOf, ballotsThen } from './find/ballots.ts'
import { heldTokens } from './find/held-tokens.ts'
import { ownerOf } from './find/owner.ts'
import { momentOf } from './find/point.ts'
import { sumThen } from './find/series.ts'
import { owner } from './request/parameter-types.ts'
import { checkPoint, point } from './request/point.ts'
import { heldTokenFields, heldTokenRows } from './shape/held-tokens.ts'
import { pointFields, pointShown } from './shape/point.ts'
import { described, exact, rowsOf, shape, text } from './shape/results.ts'
import { iostOf } from './shape/values.ts'

const iost = shape({
  available: exact('Available.', '可用。'),
  frozen: exact('Frozen and not due yet.', '已冻结且尚未到期。'),
  votes: exact('Locked in votes for producers.', '投票锁定。'),
  pledged_for_itself: exact('Pledged for gas of its own.', '为自己质押以获取 gas。'),
  pledged_for_others: exact(
    'Pledged for gas of others; it comes back to this account.',
    '为他人质押以获取 gas；赎回后归还本账户。',
  ),
  total: exact('Sum of all of these.', '以上各项合计。'),
})

/** Everything that belongs to an owner. */
export const getAccountAssets = defineAction({
  module: 'account',
  action: 'get-account-assets',
  title: { en: 'Assets of an account', zh: '账户资产' },
  summary: {
    en: 'Everything that belongs to an account, a contract, a public key that owns tokens, or 0: its IOST by where it is, and every other token with an available or frozen balance above 0, sorted by symbol. Frozen amounts that are due count as available. With at_block or at_time all of it is as it was at that point.',
    zh: '账户、合约、持有代币的公钥或 0 的全部资产：按所在之处分列的 IOST，以及可用余额或冻结余额大于 0 的其他代币，按符号排列。已到期的冻结金额计入可用余额。提供 at_block 或 at_time 时，所有数值均为当时的状态。',
  },
  params: Type.Object({ account: owner(), ...point }),
  check: checkPoint,
  result: shape({
    name: text('Name of the account or other owner.', '账户或其他持有者的名称。'),
    iost: described(iost, 'IOST.', 'IOST。'),
    tokens: rowsOf(shape(heldTokenFields), 'Tokens other than iost.', 'iost 以外的代币。'),
    ...pointFields,
  }),
  run: async (context, { account, ...asked }) => {
    const { view } = context
    const [name, then] = await Promise.all([ownerOf(context, account), momentOf(context, asked)])
    const { height } = then ?? view.at
    const [tokens, { total: votes }, forItself, forOthers] = await Promise.all([
      heldTokens(view, name, then),
      then === undefined ? ballotsOf(view, name) : ballotsThen(view, name, height),
      sumThen(view, seriesOf.pledgedForItself(name), height),
      sumThen(view, seriesOf.pledgedForOthers(name), height),
    ])
    const { available, frozen } = tokens.find(({ token }) => token === 'iost') ?? heldAt([])
    const parts = { available, frozen, votes, pledged_for_itself: forItself, pledged_for_others: forOthers }
    return {
      name,
      iost: iostShown(parts),
      tokens: await heldTokenRows(
        view,
        tokens.filter(({ token }) => token !== 'iost'),
      ),
      ...pointShown(then),
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub' },
})

/** Amounts as numbers, beside their sum. */
const iostShown = (parts: Readonly<Record<string, bigint>>) => ({
  ...Object.fromEntries(Object.entries(parts).map(([name, units]) => [name, iostOf(units)])),
  total: iostOf(Object.values(parts).reduce((sum, units) => sum + units, 0n)),
})
