import { expect, setDefaultTimeout, test } from 'bun:test'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

type Assets = {
  readonly iost: { readonly voter_rewards: string | null; readonly producer_reward: string | null }
  readonly unclaimed: {
    readonly by_producer: readonly { readonly producer: string; readonly amount: string | null }[]
  }
}
type Balance = {
  readonly frozen_balance: { readonly list: readonly { readonly amount: string; readonly time: string }[] }
}

const explorer = await explorerOn()

/** The card of withdrawable amounts; `""`: the page has none. */
async function cardOf(path: string): Promise<string> {
  const { html } = await explorer.visit(path)
  return /<section class="card"><header><div><h2 id="withdraw">[\s\S]*?<\/section>/.exec(html)?.[0] ?? ''
}

const valuesIn = (html: string): readonly string[] =>
  [...html.matchAll(/<data value="([^"]*)"/g)].map(([, value = '']) => value)

/** The earliest time in the list, in any position, and the sum of the amounts at that time. */
function nextOf({ frozen_balance: { list } }: Balance) {
  const [time] = list.map(each => each.time).toSorted((a, b) => Number(BigInt(a) - BigInt(b)))
  if (time === undefined) return undefined
  const units = list.reduce((sum, each) => sum + (each.time === time ? toUnits(each.amount, 8) : 0n), 0n)
  return { time, amount: fromUnits(units, 8) }
}

test('withdrawals: a page shows the withdrawable rewards, their producers, and the next due amount with its time', async () => {
  const { wealth } = await explorer.call<{ readonly wealth: readonly { readonly account: string }[] }>(
    'base/get-wealth-list',
    { size: '60' },
  )
  let [rewarded, waiting, without] = [0, 0, 0]
  for (const { account } of wealth) {
    const [{ iost, unclaimed }, balance] = await Promise.all([
      explorer.call<Assets>('account/get-account-assets', { account }),
      explorer.call<Balance>('account/get-account-balance', { account }),
    ])
    const next = nextOf(balance)
    const rewards = [iost.voter_rewards, iost.producer_reward].filter(each => each !== '0')
    const expected = [
      ...rewards,
      ...(next === undefined ? [] : [next.amount]),
      ...unclaimed.by_producer.slice(0, 30).map(({ amount }) => amount),
    ].filter(each => each !== null)
    const card = await cardOf(`/account/${account}`)
    expect([account, valuesIn(card)]).toEqual([account, expected])
    expect([account, card !== '']).toEqual([account, rewards.length > 0 || next !== undefined])
    if (next !== undefined)
      expect(card).toContain(`datetime="${new Date(Number(BigInt(next.time) / 1_000_000n)).toISOString().slice(0, 19)}`)
    rewarded += Number(rewards.length > 0)
    waiting += Number(next !== undefined)
    without += Number(card === '')
  }
  expect([rewarded > 0, waiting > 0, without > 0]).toEqual([true, true, true])
})

test('withdrawals: the card is in the page’s language', async () => {
  let found = 0
  for (const account of ['admin', 'busyhub', 'producer000', 'prod_01', 'prod_11']) {
    const [en, zh] = await Promise.all([cardOf(`/account/${account}`), cardOf(`/zh/account/${account}`)])
    expect([account, valuesIn(zh)]).toEqual([account, valuesIn(en)])
    if (en === '') continue
    found += 1
    expect([en, zh]).toEqual([
      expect.stringMatching(/Rewards to withdraw|Rewards and frozen amounts|Frozen amounts/),
      expect.stringMatching(/可领取奖励|奖励与解冻|冻结金额/),
    ])
    expect(zh).not.toMatch(/Reward|withdraw</)
  }
  expect(found).toBeGreaterThan(0)
})

test('withdrawals: rows that add up to less than the sum say that they are cut, and no others do', async () => {
  const { wealth } = await explorer.call<{ readonly wealth: readonly { readonly account: string }[] }>(
    'base/get-wealth-list',
    { size: '200' },
  )
  const kinds = { cut: 0, whole: 0 }
  for (const { account } of wealth) {
    if (kinds.cut > 2 && kinds.whole > 2) break
    const { iost, unclaimed } = await explorer.call<Assets>('account/get-account-assets', { account })
    const amounts = unclaimed.by_producer.map(({ amount }) => amount)
    if (amounts.length === 0 || amounts.includes(null) || iost.voter_rewards === null) continue
    const sum = amounts.reduce((all, amount) => all + toUnits(amount ?? '0', 8), 0n)
    const isCut = sum !== toUnits(iost.voter_rewards, 8)
    kinds[isCut ? 'cut' : 'whole'] += 1
    const [en, zh] = [await cardOf(`/account/${account}`), await cardOf(`/zh/account/${account}`)]
    expect([account, en.includes('Each row is cut to 8 decimals.'), zh.includes('每行均截断到 8 位小数')]).toEqual([
      ...[account, isCut, isCut],
    ])
  }
  expect([kinds.cut > 2, kinds.whole > 2]).toEqual([true, true])
})

test('withdrawals: a producer’s page shows with its rewards received what waits, and the list says where that is', async () => {
  const { producers } = await explorer.call<{ readonly producers: readonly { readonly account: string }[] }>(
    'base/get-producer-list',
    { size: '500' },
  )
  const kinds = new Set<boolean>()
  for (const { account } of producers) {
    const { iost } = await explorer.call<Assets>('account/get-account-assets', { account })
    const waiting = iost.producer_reward
    if (waiting === null) continue
    const { html } = await explorer.visit(`/producer/${account}`)
    const [, shown = '0'] = /not yet withdrawn: <\/span><data value="([^"]*)"/.exec(html) ?? []
    expect([account, shown]).toEqual([account, waiting])
    kinds.add(waiting === '0')
  }
  expect(kinds.has(false)).toBe(true)
  expect((await explorer.visit('/producers')).text).toContain(
    'What waits to be withdrawn is on the page of each producer',
  )
  expect((await explorer.visit('/zh/producers')).text).toContain('尚未领取的数额见各生产者的页面')
})
