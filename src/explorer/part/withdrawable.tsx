/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getAccountAssets } from '#actions/get-account-assets.ts'
import type { getAccountBalance } from '#actions/get-account-balance.ts'
import type { Text } from '#actions/text.ts'
import { sumOf } from '../format/amount.ts'
import { firstDue } from '../format/first-due.ts'
import { isoOf } from '../format/time.ts'
import type { Html, Visit } from '../page.ts'
import { Amount, Count } from './amount.tsx'
import { Card } from './card.tsx'
import { type Fact, Facts } from './facts.tsx'
import { More } from './more.tsx'
import { Name } from './name.tsx'
import { Rows } from './rows.tsx'
import { Until } from './time.tsx'

/** The answer of get-account-assets. */
export type Assets = AnswerOf<typeof getAccountAssets>

type Earning = {
  readonly isVoter: boolean
  /** undefined: the account is not and never was a producer. */
  readonly producer: Promise<unknown>
}

/** An owner's assets; undefined: it has no votes and was never a producer, so it earns no rewards. */
export const assetsOfEarner = async (
  visit: Visit,
  account: string,
  { isVoter, producer }: Earning,
): Promise<Assets | undefined> =>
  isVoter || (await producer) !== undefined ? visit.ask(getAccountAssets, { account }) : undefined

type FrozenList = AnswerOf<typeof getAccountBalance>['frozen_balance']['list']

type WithdrawableProps = {
  readonly visit: Visit
  /** Frozen amounts of IOST. */
  readonly frozen: FrozenList
  /** undefined: there are no rewards. */
  readonly assets: Assets | undefined
}

/** Withdrawable rewards, and the frozen amount that becomes available next; empty if there is neither. */
export const Withdrawable = ({ visit, frozen, assets }: WithdrawableProps): Html => {
  const [rewards, next] = [rewardFacts(visit, assets), nextFact(visit, frozen)]
  const facts = [...rewards, ...next]
  if (facts.length === 0) return ''
  const byProducer = assets?.unclaimed.by_producer ?? []
  return (
    <Card visit={visit} id="withdraw" title={visit.say(titleOf(rewards.length > 0, next.length > 0))}>
      <Facts facts={facts} />
      {byProducer.length !== 0 && (
        <ByProducer visit={visit} rows={byProducer} sum={assets?.iost.voter_rewards ?? null} />
      )}
    </Card>
  )
}

/** Frozen amounts become available automatically; only rewards need a withdrawal. */
const titleOf = (hasRewards: boolean, hasNext: boolean): Text => {
  if (!hasNext) return { en: 'Rewards to withdraw', zh: '可领取奖励' }
  return hasRewards
    ? { en: 'Rewards and frozen amounts', zh: '奖励与冻结金额' }
    : { en: 'Frozen amounts', zh: '冻结金额' }
}

const rewardFacts = (visit: Visit, assets: Assets | undefined): readonly Fact[] => {
  if (assets === undefined) return []
  const { say } = visit
  const { voter_rewards: asVoter, producer_reward: asProducer } = assets.iost
  const rewards = [
    [say({ en: 'Rewards for votes', zh: '投票奖励' }), asVoter],
    [say({ en: 'Reward as a producer', zh: '生产者奖励' }), asProducer],
  ] as const
  return rewards.flatMap(([name, amount]) =>
    amount === '0' ? [] : [[name, <Reward visit={visit} amount={amount} />] as const],
  )
}

/** A reward in IOST; null: it cannot be derived, since the chain has no receipts for it. */
const Reward = ({ visit, amount }: { readonly visit: Visit; readonly amount: string | null }): Html =>
  amount === null ? (
    <span class="none" safe>
      {visit.say({ en: 'Not known until the next withdrawal', zh: '下次领取后方可得知' })}
    </span>
  ) : (
    <Amount visit={visit} value={amount} token="iost" />
  )

/** The frozen amount that becomes available first, with its time. */
const nextFact = (visit: Visit, frozen: FrozenList): readonly Fact[] => {
  const due = firstDue(frozen)
  const [next] = due
  if (next === undefined) return []
  return [
    [
      visit.say({ en: 'Next to become available', zh: '下一笔解冻' }),
      <span class="stack">
        <Amount visit={visit} value={sumOf(due.map(({ amount }) => amount))} token="iost" />
        <Until visit={visit} iso={isoOf(next.time)} />
      </span>,
    ],
  ]
}

/** Maximum number of producers on a page. */
const MOST = 30
/** Maximum length of a list that is initially open. */
const OPEN = 5

type ByProducerProps = {
  readonly visit: Visit
  readonly rows: Assets['unclaimed']['by_producer']
  /** What a withdrawal pays; null: not known. */
  readonly sum: string | null
}

/** Whether the rows add up to less than what a withdrawal pays: the contract adds before it cuts. */
const isCut = ({ rows, sum }: Pick<ByProducerProps, 'rows' | 'sum'>): boolean =>
  sum !== null && rows.every(({ amount }) => amount !== null) && sumOf(rows.map(({ amount }) => amount ?? '0')) !== sum

const ByProducer = ({ visit, rows, sum }: ByProducerProps): Html => (
  <details class="inner" open={rows.length <= OPEN}>
    <summary safe>
      {visit.say({ en: `Rewards by producer: ${rows.length}`, zh: `按生产者分列的奖励：${rows.length} 项` })}
    </summary>
    <Rows
      visit={visit}
      rows={rows.slice(0, MOST)}
      columns={[
        ['Producer', '生产者', ({ producer }) => <Name visit={visit} kind="producer" id={producer} />],
        [
          'Reward (IOST)',
          '奖励（IOST）',
          ({ amount }) => (amount === null ? <Reward visit={visit} amount={null} /> : <Count value={amount} />),
          { isNumber: true, place: 'end' },
        ],
      ]}
    />
    <More visit={visit} shown={MOST} total={rows.length} />
    {isCut({ rows, sum }) && (
      <p class="none" safe>
        {visit.say({
          en: 'Each row is cut to 8 decimals. A withdrawal pays the sum before it is cut, which is a little more.',
          zh: '每行均截断到 8 位小数；领取时按未截断的合计支付，故略多。',
        })}
      </p>
    )}
  </details>
)
