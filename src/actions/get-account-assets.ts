import { Type } from '@sinclair/typebox'
import { seriesOf } from '#indices/series.ts'
import { parseHeld } from '#indices/series-entry.ts'
import type { View } from '#store/port.ts'
import { defineAction } from './define.ts'
import { heldTokens, readUnclaimed } from './find/holdings.ts'
import { resolveOwner } from './find/owner.ts'
import { findMoment } from './find/point.ts'
import { readSums, readVotes } from './find/series.ts'
import { owner } from './request/parameter-types.ts'
import { checkPoint, point } from './request/range.ts'
import {
  heldTokenFields,
  heldTokenRows,
  iostAssets,
  iostShown,
  unclaimedRewards,
  unclaimedShown,
} from './shape/holdings.ts'
import { defineRows, described, pointFields, pointShown, shape, text } from './shape/results.ts'

/** All assets of an owner. */
export const getAccountAssets = defineAction({
  module: 'account',
  action: 'get-account-assets',
  title: { en: 'Assets of an account', zh: '账户资产' },
  summary: {
    en: 'Everything that belongs to an account, a contract, a public key that owns tokens, or 0: its IOST by state, including rewards for votes that were not withdrawn yet, and every other token with an available or frozen balance above 0, sorted by symbol. Frozen amounts that are due count as available. Rewards are what a withdrawal would pay, exactly, by the arithmetic of the contract; votes that were all taken back pay nothing until there are some again. With at_block or at_time all of it is as it was at that point.',
    zh: '账户、合约、持有代币的公钥或 0 的全部资产：按状态分列的 IOST（包括尚未领取的投票奖励），以及可用余额或冻结余额大于 0 的其他代币，按符号排列。已到期的冻结金额计入可用余额。奖励为立即领取时的实际数额，按合约的算法精确计算；全部撤回的投票在再次投票之前没有可领取的奖励。提供 at_block 或 at_time 时，所有数值均为当时的状态。',
  },
  params: Type.Object({ account: owner(), ...point }),
  check: checkPoint,
  result: shape({
    name: text('Name of the account or other owner.', '账户或其他持有者的名称。'),
    iost: described(iostAssets, 'IOST by state.', '按状态分列的 IOST。'),
    unclaimed: described(
      unclaimedRewards,
      'More about the rewards that were not withdrawn yet, in IOST.',
      '尚未领取的奖励明细（IOST）。',
    ),
    tokens: defineRows(shape(heldTokenFields), 'Tokens other than iost.', 'iost 以外的代币。'),
    ...pointFields,
  }),
  run: async (context, { account, ...asked }) => {
    const { view } = context
    const [name, then] = await Promise.all([resolveOwner(context, account), findMoment(context, asked)])
    const { height } = then ?? view.at
    const [tokens, pledged, [votes, unclaimed]] = await Promise.all([
      heldTokens(view, name, then),
      readSums(view, [seriesOf.pledgedForItself(name), seriesOf.pledgedForOthers(name)], height),
      readPastClaims(view, name, height),
    ])
    const { available, frozen } = tokens.find(({ token }) => token === 'iost') ?? parseHeld([])
    const [pledged_for_itself = 0n, pledged_for_others = 0n] = pledged
    const others = tokens.filter(({ token }) => token !== 'iost')
    return {
      name,
      iost: iostShown({
        available,
        frozen,
        votes: [...votes.values()].reduce((sum, each) => sum + each, 0n),
        pledged_for_itself,
        pledged_for_others,
        voter_rewards: unclaimed.asVoter,
        producer_reward: unclaimed.asProducer,
      }),
      unclaimed: unclaimedShown(unclaimed),
      tokens: await heldTokenRows(view, others),
      ...pointShown(then),
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub' },
})

/** The votes of an owner after a block, and the amounts that it could withdraw for them. */
async function readPastClaims(view: View, owner: string, height: number) {
  const votes = await readVotes(view, seriesOf.voter(owner), height)
  return [votes, await readUnclaimed(view, { owner, votes, height })] as const
}
