import { expect, test } from 'bun:test'
import { askAtOneHeight } from '#actions/ask.ts'
import { getAccountBalance } from '#actions/get-balance.ts'
import { getContractTx } from '#actions/get-contract.ts'
import { Exact } from '#chain/json.ts'
import { systemClock } from '#time/clock.ts'
import { refusal } from '../support/refusal.ts'
import { askText } from '../support/stores/ask.ts'
import { loadedStore } from '../support/stores/loaded.ts'

const deps = {
  store: await loadedStore(),
  node: undefined,
  prices: { get: () => undefined },
  profiles: { get: () => undefined },
  clock: systemClock,
}
const running = { signal: AbortSignal.timeout(600_000) }

test('ask: calls answer at one height, and amounts and arguments keep all their digits', async () => {
  const { balance, values, height } = await askAtOneHeight(
    deps,
    async ({ ask, at }) => {
      const given = { contract: 'token.iost', action_name: 'transferFreeze', size: '500' }
      const [{ balance }, { transactions }] = await Promise.all([
        ask(getAccountBalance, { account: 'busyhub' }),
        ask(getContractTx, given),
      ])
      return { balance, values: transactions.flatMap(row => row.data), height: at.height }
    },
    running,
  )
  expect([height, balance]).toEqual([4851, '59985299.93557391'])
  // Times in nanoseconds exceed the precision of a double.
  const exact = values.filter(value => value instanceof Exact).map(({ text }) => text)
  expect(exact.length).toBeGreaterThan(0)
  for (const text of exact)
    expect([text, /^\d{19}$/.test(text), String(Number(text)) === text]).toEqual([text, true, false])
})

test('ask: a request that the API refuses fails in the same way', async () => {
  const asked = (given: Readonly<Record<string, string>>) =>
    refusal(askAtOneHeight(deps, ({ ask }) => ask(getAccountBalance, given), running))
  expect((await asked({ account: 'nobodyhere' })).kind).toBe('not_found')
  expect((await asked({ account: 'no name' })).kind).toBe('bad_request')
  expect((await asked({ account: 'busyhub', other: '1' })).kind).toBe('bad_request')
})

test('get-overview: prices keep the digits of their source', async () => {
  const price = { usd: '0.00512345678901234567', cny: '0.037', rank: 512, time: '2026-11-21T08:00:00.000Z' }
  expect(await askText('get-overview', {}, { deps: { prices: { get: () => price } } })).toContain(
    '"usd_price":0.00512345678901234567,"cny_price":0.037,"rank":512,"price_time":"2026-11-21T08:00:00.000Z"',
  )
})
