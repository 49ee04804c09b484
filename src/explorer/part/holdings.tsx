/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import type { getAccountDetail, getTokenList } from '#actions/get-account.ts'
import { getAccountAssets } from '#actions/get-account.ts'
import type { getAccountBalance } from '#actions/get-balance.ts'
import { formatUnits, parseUnits } from '#chain/amount.ts'
import { computeTotals, formatGrouped, selectFirstDue, sumDecimals } from '../format/amount.ts'
import { formatIso } from '../format/time.ts'
import { formatBalancePath, toHref } from '../links.ts'
import type { Html, Props, Visit } from '../page.ts'
import { Amount, At, Count, None, Until } from './amount.tsx'
import { FirstRows, FoldedRows } from './list.tsx'
import { Name, Owner } from './name.tsx'
import { Card, type Fact, Facts, Figures, Fold, Note } from './section.tsx'
import { Share } from './share.tsx'
import { ChainText } from './text.tsx'

/** A gas pledge: the account that benefits, and the amount. */
type Pledge = { readonly pledger: string; readonly amount: string }

type Balance = AnswerOf<typeof getAccountBalance>

type HoldingsProps = {
  readonly visit: Visit
  readonly balance: Balance
  /** undefined: the owner is no account. */
  readonly gas: PledgedGas | undefined
}

/** Maximum number of frozen amounts, and of pledges, on a page. */
const MAX = 12
/** Maximum length of a list that is initially open. */
const OPEN = 5

/** The IOST of an owner: the available amount, and the locked amounts with their times. */
export function Holdings({ visit, balance, gas }: HoldingsProps): Html {
  const { say } = visit
  const pledges = gas?.pledged_info ?? []
  const byOthers = gas === undefined ? '0' : sumPledgesOfOthers(balance.name, gas)
  const { frozen_balance: frozen, vote_balance: voted } = balance
  const iost = (value: string): Html => <Amount visit={visit} value={value} token="iost" />
  const { pledged, ranked, all } = computeTotals(balance, pledges)
  return (
    <section class="card holdings">
      <Figures
        visit={visit}
        facts={[
          ['Available', '可用', iost(balance.balance)],
          ['Frozen', '冻结', iost(frozen.total)],
          ['In votes', '投票锁定', iost(voted.total)],
          [
            'Pledged for gas',
            'gas 质押',
            byOthers === '0' ? (
              iost(pledged)
            ) : (
              <span class="stack">
                {iost(pledged)}
                <small>
                  <span safe>{say({ en: 'others pledged for it ', zh: '他人为其质押 ' })}</span>
                  <Count value={byOthers} />
                </small>
              </span>
            ),
          ],
          [
            'Total',
            '合计',
            pledges.length === 0 ? (
              iost(all)
            ) : (
              <span class="stack">
                {iost(all)}
                <small>
                  <Count value={ranked} />
                  <span safe>{say({ en: ' without the gas pledge', zh: '（不含 gas 质押）' })}</span>
                </small>
              </span>
            ),
          ],
        ]}
      />
      {frozen.list.length !== 0 && <Frozen visit={visit} list={frozen.list} />}
      {pledges.length !== 0 && <Pledges visit={visit} pledges={pledges} />}
    </section>
  )
}

/** Gas of a pledge of one IOST, at most. */
const GAS_PER_IOST = 300_000n
const IOST_DECIMALS = 8

/** The gas of an account: its limit, and the pledges that the account made. */
type PledgedGas = {
  readonly limit: string
  readonly pledged_info: readonly { readonly pledger: string; readonly amount: string }[]
}

/** The IOST that others pledged for the gas of an account: its limit names the sum of all pledges for it. */
function sumPledgesOfOthers(account: string, { limit, pledged_info }: PledgedGas): string {
  const all = (parseUnits(limit, IOST_DECIMALS) ?? 0n) / GAS_PER_IOST
  const own = pledged_info.filter(({ pledger }) => pledger === account)
  return formatUnits(
    own.reduce((rest, { amount }) => rest - (parseUnits(amount, IOST_DECIMALS) ?? 0n), all),
    IOST_DECIMALS,
  )
}

const Frozen = ({ visit, list }: Props<{ list: Balance['frozen_balance']['list'] }>): Html => (
  <FoldedRows
    visit={visit}
    title={{ en: `Frozen amounts: ${list.length}`, zh: `冻结：${list.length} 笔` }}
    isOpen={list.length <= OPEN}
    rows={list}
    most={MAX}
    columns={[
      ['Frozen (IOST)', '冻结（IOST）', ({ amount }) => <Count value={amount} />],
      ['Until', '解冻时间', ({ time }) => <At iso={formatIso(time)} />, 'end'],
    ]}
  />
)

const Pledges = ({ visit, pledges }: Props<{ pledges: readonly Pledge[] }>): Html => (
  <FoldedRows
    visit={visit}
    title={{ en: `Gas pledges: ${pledges.length}`, zh: `gas 质押：${pledges.length} 笔` }}
    isOpen={pledges.length <= OPEN}
    rows={pledges}
    most={MAX}
    columns={[
      ['Pledged (IOST)', '质押（IOST）', ({ amount }) => <Count value={amount} />],
      ['For the gas of', '受益账户', ({ pledger }) => <Owner visit={visit} id={pledger} />],
    ]}
  />
)

type AccountAssets = AnswerOf<typeof getAccountAssets>

type Earning = {
  readonly isVoter: boolean
  /** undefined: the account is not and never was a producer. */
  readonly producer: Promise<unknown>
}

/** An owner's assets; undefined: it has no votes and was never a producer, so it earns no rewards. */
export const readEarnerAssets = async (
  visit: Visit,
  account: string,
  { isVoter, producer }: Earning,
): Promise<AccountAssets | undefined> =>
  isVoter || (await producer) !== undefined ? visit.ask(getAccountAssets, { account }) : undefined

type FrozenList = AnswerOf<typeof getAccountBalance>['frozen_balance']['list']

type WithdrawableProps = {
  readonly visit: Visit
  /** Frozen amounts of IOST. */
  readonly frozen: FrozenList
  /** undefined: there are no rewards. */
  readonly assets: AccountAssets | undefined
}

/** Withdrawable rewards, and the frozen amount that becomes available next; empty if there is neither. */
export function Withdrawable({ visit, frozen, assets }: WithdrawableProps): Html {
  const [rewards, next] = [listRewardFacts(visit, assets), listNextDueFacts(visit, frozen)]
  const facts = [...rewards, ...next]
  if (facts.length === 0) return ''
  const byProducer = assets?.unclaimed.by_producer ?? []
  return (
    <Card visit={visit} id="withdraw" title={selectTitle(rewards.length > 0, next.length > 0)}>
      <Facts visit={visit} facts={facts} />
      {byProducer.length !== 0 && (
        <ByProducer visit={visit} rows={byProducer} sum={assets?.iost.voter_rewards ?? null} />
      )}
    </Card>
  )
}

/** Frozen amounts become available automatically; only rewards need a withdrawal. */
function selectTitle(hasRewards: boolean, hasNext: boolean): Text {
  if (!hasNext) return { en: 'Rewards to withdraw', zh: '可领取奖励' }
  return hasRewards
    ? { en: 'Rewards and frozen amounts', zh: '奖励与冻结金额' }
    : { en: 'Frozen amounts', zh: '冻结金额' }
}

function listRewardFacts(visit: Visit, assets: AccountAssets | undefined): readonly Fact[] {
  if (assets === undefined) return []
  const { voter_rewards: asVoter, producer_reward: asProducer } = assets.iost
  const rewards = [
    ['Rewards for votes', '投票奖励', asVoter],
    ['Reward as a producer', '生产者奖励', asProducer],
  ] as const
  return rewards.flatMap(([en, zh, amount]) =>
    amount === '0' ? [] : [[en, zh, <Reward visit={visit} amount={amount} />] as const],
  )
}

/** A reward in IOST; null: it cannot be derived, since the chain has no receipts for it. */
const Reward = ({ visit, amount }: Props<{ amount: string | null }>): Html =>
  amount === null ? (
    <span class="none" safe>
      {visit.say({ en: 'Not known until the next withdrawal', zh: '下次领取后方可得知' })}
    </span>
  ) : (
    <Amount visit={visit} value={amount} token="iost" />
  )

/** The frozen amount that becomes available first, with its time. */
function listNextDueFacts(visit: Visit, frozen: FrozenList): readonly Fact[] {
  const due = selectFirstDue(frozen)
  const [next] = due
  if (next === undefined) return []
  return [
    [
      'Next to become available',
      '下一笔解冻',
      <span class="stack">
        <Amount visit={visit} value={sumDecimals(due.map(({ amount }) => amount))} token="iost" />
        <Until visit={visit} iso={formatIso(next.time)} />
      </span>,
    ],
  ]
}

const MAX_PRODUCERS = 30

type ByProducerProps = {
  readonly visit: Visit
  readonly rows: AccountAssets['unclaimed']['by_producer']
  /** What a withdrawal pays; null: not known. */
  readonly sum: string | null
}

/** Whether the rows add up to less than what a withdrawal pays: the contract adds before it cuts. */
const isCut = ({ rows, sum }: Pick<ByProducerProps, 'rows' | 'sum'>): boolean =>
  sum !== null &&
  rows.every(({ amount }) => amount !== null) &&
  sumDecimals(rows.map(({ amount }) => amount ?? '0')) !== sum

const ByProducer = ({ visit, rows, sum }: ByProducerProps): Html => (
  <FoldedRows
    visit={visit}
    title={{ en: `Rewards by producer: ${rows.length}`, zh: `按生产者分列的奖励：${rows.length} 项` }}
    isOpen={rows.length <= OPEN}
    rows={rows}
    most={MAX_PRODUCERS}
    columns={[
      ['Producer', '生产者', ({ producer }) => <Name visit={visit} kind="producer" id={producer} />],
      [
        'Reward (IOST)',
        '奖励（IOST）',
        ({ amount }) => (amount === null ? <Reward visit={visit} amount={null} /> : <Count value={amount} />),
        'digits end',
      ],
    ]}
  >
    {isCut({ rows, sum }) ? (
      <Note
        visit={visit}
        text={{
          en: 'Each row is cut to 8 decimals. A withdrawal pays the sum before it is cut, which is a little more.',
          zh: '每行均截断到 8 位小数；领取时按未截断的合计支付，故略多。',
        }}
      />
    ) : (
      ''
    )}
  </FoldedRows>
)

type Owned = AnswerOf<typeof getTokenList>['tokens'][number]

/** Maximum number of tokens on a page: anyone can send thousands of tokens to an account. */
const MAX_TOKENS = 50

/** Maximum number of tokens in a list that is initially open. */
const MAX_OPEN_TOKENS = 6

export function OwnTokens({ visit, account, tokens }: Props<{ account: string; tokens: readonly Owned[] }>): Html {
  const all = formatGrouped(String(tokens.length))
  return (
    <Fold
      visit={visit}
      id="tokens"
      title={{ en: `Tokens: ${all}`, zh: `代币：${all} 种` }}
      isOpen={tokens.length <= MAX_OPEN_TOKENS}
    >
      <FirstRows
        visit={visit}
        rows={tokens}
        most={MAX_TOKENS}
        none={{ en: 'No tokens.', zh: '没有代币。' }}
        columns={[
          [
            'Token',
            '代币',
            ({ symbol, full_name }) =>
              full_name === '' || full_name === symbol ? (
                <Name visit={visit} kind="token" id={symbol} />
              ) : (
                <span class="stack">
                  <Name visit={visit} kind="token" id={symbol} />
                  <small>
                    <ChainText visit={visit} text={full_name} isProse />
                  </small>
                </span>
              ),
          ],
          [
            'Available',
            '可用',
            ({ balance, symbol }) => (
              <a href={toHref(visit, formatBalancePath(account, symbol))}>
                <Count value={balance} />
              </a>
            ),
            'digits end',
          ],
          ['Frozen', '冻结', token => <FrozenOfToken visit={visit} token={token} />, 'digits'],
        ]}
      />
    </Fold>
  )
}

/** Maximum number of frozen amounts of a token with their times. */
const MAX_TIMES = 3

/** The frozen amounts of a token, and the end of each freeze. */
function FrozenOfToken({ visit, token }: Props<{ token: Owned }>): Html {
  const { frozen_balance, frozen_list: parts } = token
  const { say } = visit
  if (!/[1-9]/.test(frozen_balance)) return <None />
  return (
    <span class="stack">
      <Count value={frozen_balance} />
      {parts.slice(0, MAX_TIMES).map(({ amount, time }) => (
        <small>
          {parts.length !== 1 && <Count value={amount} />} <span safe>{say({ en: 'until', zh: '冻结至' })}</span>{' '}
          <At iso={formatIso(time)} />
        </small>
      ))}
      {parts.length > MAX_TIMES && (
        <small safe>{say({ en: `${parts.length} amounts in all`, zh: `共 ${parts.length} 笔` })}</small>
      )}
    </span>
  )
}

type AccountDetail = AnswerOf<typeof getAccountDetail>

/** Gas and RAM of an account, as bars. */
export function Resources({ visit, detail }: Props<{ detail: AccountDetail }>): Html {
  const { say } = visit
  const { gas_info: gas, ram_info: ram } = detail
  return (
    <Card visit={visit} id="resources" title={{ en: 'Gas and RAM', zh: 'gas 与 RAM' }}>
      <Facts
        visit={visit}
        facts={[
          [
            'Gas left',
            '剩余 gas',
            <Measure
              part={gas.current_total}
              whole={gas.limit}
              tell={percent => say({ en: `${percent} left`, zh: `剩余 ${percent}` })}
            >
              <small>
                {' · +'}
                <Count value={gas.increase_speed} />
                <span safe>{say({ en: ' per second', zh: '/秒' })}</span>
              </small>
            </Measure>,
          ],
          [
            'RAM used (bytes)',
            '已用 RAM（字节）',
            <Measure
              part={ram.used}
              whole={sumDecimals([ram.used, toPositive(ram.available)])}
              tell={percent => say({ en: `${percent} used`, zh: `已用 ${percent}` })}
            >
              <small>
                {' · '}
                <Count value={ram.available} />
                <span safe>{say({ en: ' available', zh: ' 可用' })}</span>
              </small>
            </Measure>,
          ],
        ]}
      />
    </Card>
  )
}

const toPositive = (decimal: string): string => (decimal.startsWith('-') ? '0' : decimal)

type MeasureProps = {
  readonly part: string
  readonly whole: string
  /** A text that says whether the percentage is available or used. */
  readonly tell: (percent: string) => string
  readonly children: Html
}

const Measure = ({ part, whole, tell, children }: MeasureProps): Html => (
  <div class="measure">
    <span>
      <Count value={part} />
      {' / '}
      <Count value={whole} />
      {children as 'safe'}
    </span>
    <Share part={toPositive(part)} whole={whole} tell={tell} />
  </div>
)
