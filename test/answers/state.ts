import { expect, test } from 'bun:test'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { type Oracle, oracle, recordedBlocks, rpcAnswers } from '#test/support/nodes/recording.ts'
import type { Service } from '#test/support/processes/service.ts'
import { allRows, type Data, dataOf, field, parseData, rowsOf } from './answers.ts'

type Units = ReadonlyMap<string, ReadonlyMap<string, bigint>>

/** symbol → owner → available amount: the stored amount plus frozen amounts that are due. */
const availableOf = (state: Oracle, now: bigint): Units =>
  new Map(
    [...state.balances].map(([symbol, owners]) => {
      const available = new Map([...owners].map(([owner, amount]) => [owner, BigInt(amount)]))
      for (const [owner, entries] of state.frozen.get(symbol) ?? [])
        for (const entry of entries)
          if (BigInt(entry.get('ftime') ?? 0) <= now)
            available.set(owner, (available.get(owner) ?? 0n) + BigInt(entry.get('amount') ?? 0))
      return [symbol, available]
    }),
  )

/** Frozen entries that are not yet due, in the node's order. */
const lockedOf = (state: Oracle, symbol: string, owner: string, now: bigint): readonly [bigint, string][] =>
  (state.frozen.get(symbol)?.get(owner) ?? [])
    .filter(entry => BigInt(entry.get('ftime') ?? 0) > now)
    .map(entry => [BigInt(entry.get('amount') ?? 0), entry.get('ftime') ?? ''])

const sum = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((all, amount) => all + amount, 0n)
const decimalsOf = (state: Oracle, symbol: string): number => Number(state.tokens.get(symbol)?.get('decimal'))
/** An exact balance as the node returns it: smallest units as a double, divided (go-iost `Decimal.Float64`). */
const doubleOf = (units: bigint, decimal: number): number => Number(units) / 10 ** decimal
const byAmountThenName = (a: readonly [string, bigint], b: readonly [string, bigint]): number =>
  a[1] === b[1] ? (a[0] < b[0] ? -1 : 1) : a[1] > b[1] ? -1 : 1

const toMap = (row: Readonly<Record<string, Data>>): Data => new Map(Object.entries(row))

async function setup() {
  const state = await oracle()
  const now = (await recordedBlocks()).at(-1)?.block.time ?? 0n
  return { state, now, available: availableOf(state, now) }
}

/**
 * The state of the recorded chain through the API, compared with the node's own storage and answers. No
 * difference is allowed. `every`: each n-th owner is compared.
 */
export function stateSuite(service: () => Service, every = 1): void {
  const some = <T>(of: Iterable<T>): readonly T[] => [...of].filter((_, at) => at % every === 0)

  test("every token matches the node's storage, with the block that created it", async () => {
    const { state, available } = await setup()
    const created = new Map<string, readonly [string, string]>()
    for (const { block } of await recordedBlocks())
      for (const tx of block.transactions)
        for (const { funcName, content } of tx.receipt.receipts)
          if (funcName === 'token.iost/create')
            created.set((JSON.parse(content) as string[])[0] ?? '', [
              tx.hash,
              new Date(Number(block.time / 1_000_000n)).toISOString(),
            ])
    expect(state.tokens.size).toBe(28)
    for (const [symbol, stored] of state.tokens) {
      const decimal = decimalsOf(state, symbol)
      const [hash, time] = created.get(symbol) ?? ['', '']
      expect(await dataOf(service(), 'token-detail', { token: symbol })).toEqual(
        toMap({
          can_transfer: stored.get('canTransfer') === 'true',
          created_at: time,
          current_supply: fromUnits(BigInt(stored.get('supply') ?? 0), decimal),
          decimal: String(decimal),
          only_issuer_can_transfer: stored.get('onlyIssuerCanTransfer') === 'true',
          full_name: stored.get('fullName') ?? '',
          holder_count: String([...(available.get(symbol) ?? []).values()].filter(a => a > 0n).length),
          issuer: stored.get('issuer') ?? '',
          symbol,
          total_supply: fromUnits(BigInt(stored.get('totalSupply') ?? 0), decimal),
          tx_hash: hash,
        }),
      )
    }
  })

  test('every holder list matches the storage, page by page, in order of balance', async () => {
    const { state, available } = await setup()
    let rows = 0
    for (const [at, symbol] of [...state.tokens.keys()].entries()) {
      const expected = [...(available.get(symbol) ?? [])]
        .filter(([, amount]) => amount > 0n)
        .sort(byAmountThenName)
        .map(([account, amount]) => ({
          account,
          balance: fromUnits(amount, decimalsOf(state, symbol)),
          symbol,
        }))
      for (const size of at % every === 0 ? [20, 7, 500] : [500]) {
        const got = await allRows(service(), 'token-holder', 'holders', { token: symbol }, size)
        expect(got.map(row => Object.fromEntries(row))).toEqual(expected)
      }
      rows += expected.length
    }
    expect(rows).toBeGreaterThan(2_100)
  })

  test('balance, frozen amounts, votes and token list of every owner match the storage', async () => {
    const { state, now, available } = await setup()
    const owners = new Set([...state.accounts.keys(), ...state.contracts.keys()])
    for (const held of state.balances.values()) for (const owner of held.keys()) owners.add(owner)
    expect(owners.size).toBeGreaterThan(300)
    for (const owner of some(owners)) {
      const locked = lockedOf(state, 'iost', owner, now)
      const votes = [...(state.voterVotes.get(owner) ?? [])]
        .map(([option, row]) => [option, toUnits((row as readonly string[])[0] ?? '0', 8)] as const)
        .sort(byAmountThenName)
      const frozen = locked.map(([amount, time]) => toMap({ amount: fromUnits(amount, 8), time }))
      const given = votes.map(([option, amount]) => toMap({ option, votes: fromUnits(amount, 8), cleared_votes: '0' }))
      const total = (amounts: readonly bigint[], list: readonly Data[]) =>
        toMap({ total: fromUnits(sum(amounts), 8), list })
      expect(await dataOf(service(), 'account-balance', { account: owner })).toEqual(
        toMap({
          name: owner,
          balance: fromUnits(available.get('iost')?.get(owner) ?? 0n, 8),
          frozen_balance: total(
            locked.map(([amount]) => amount),
            frozen,
          ),
          vote_balance: total(
            votes.map(([, amount]) => amount),
            given,
          ),
        }),
      )
      const tokens = [...state.tokens.keys()].sort().flatMap(symbol => {
        const amount = available.get(symbol)?.get(owner) ?? 0n
        const held = sum(lockedOf(state, symbol, owner, now).map(([units]) => units))
        const decimal = decimalsOf(state, symbol)
        if (amount === 0n && held === 0n) return []
        return [[symbol, fromUnits(amount, decimal), fromUnits(held, decimal), String(decimal)]]
      })
      const list = await dataOf(service(), 'token-list', { account: owner })
      expect(
        rowsOf(list, 'tokens').map(row =>
          ['symbol', 'balance', 'frozen_balance', 'decimal'].map(name => row.get(name)),
        ),
      ).toEqual(tokens)
      const length = String(tokens.length)
      expect(['page', 'size', 'total'].map(name => field(list, name))).toEqual(['1', length, length])
    }
  })

  test('every getTokenBalance of the node is the balance in its storage rounded to a double', async () => {
    const { state, available } = await setup()
    let compared = 0
    for (const [call, text] of await rpcAnswers()) {
      const [, owner = '', token = ''] = /^GET \/getTokenBalance\/([^/]+)\/([^/]+)\/true$/.exec(call) ?? []
      if (!state.tokens.has(token) || !(state.accounts.has(owner) || state.balances.get(token)?.has(owner))) continue
      const stored = doubleOf(available.get(token)?.get(owner) ?? 0n, decimalsOf(state, token))
      expect([owner, token, stored]).toEqual([owner, token, Number(field(parseData(text), 'balance'))])
      compared++
    }
    expect(compared).toBeGreaterThan(2_000)
  })

  test('sub-accounts are those whose creator the chain names', async () => {
    const { state } = await setup()
    const byCreator = new Map<string, string[]>()
    for (const [name, stored] of state.accounts) {
      const creator = String(stored.get('creator'))
      byCreator.set(creator, [...(byCreator.get(creator) ?? []), name])
    }
    expect(byCreator.size).toBeGreaterThan(10)
    for (const name of some(state.accounts.keys())) {
      const desc = await allRows(service(), 'subaccount-list', 'accounts', { account: name }, 20)
      const asc = await allRows(service(), 'subaccount-list', 'accounts', { account: name, sort: 'asc' }, 7)
      expect(asc.toReversed()).toEqual([...desc])
      expect(desc.map(row => String(row.get('name'))).sort()).toEqual((byCreator.get(name) ?? []).sort())
      expect(desc.filter(row => row.get('created_by') !== name)).toEqual([])
    }
  })

  test('the wealth list has exactly accounts and user contracts, by total, then name', async () => {
    const { state, now, available } = await setup()
    const expected = [...state.accounts.keys(), ...[...state.contracts.keys()].filter(id => !id.endsWith('.iost'))]
      .map(owner => {
        const token = available.get('iost')?.get(owner) ?? 0n
        const frozen = sum(lockedOf(state, 'iost', owner, now).map(([amount]) => amount))
        const vote = sum(
          [...(state.voterVotes.get(owner) ?? []).values()].map(row => toUnits((row as string[])[0] ?? '0', 8)),
        )
        return { owner, total: token + frozen + vote, parts: [token, vote, frozen] }
      })
      .filter(({ total }) => total > 0n)
      .sort((a, b) => byAmountThenName([a.owner, a.total], [b.owner, b.total]))
      .map(({ owner, total, parts }) =>
        [owner, total, ...parts].map(v => (typeof v === 'bigint' ? fromUnits(v, 8) : v)),
      )
    for (const size of [20, 13, 500]) {
      const got = await allRows(service(), 'wealth-list', 'wealth', {}, size)
      expect(
        got.map(row =>
          ['account', 'balance', 'token_balance', 'vote_balance', 'frozen_balance'].map(name => String(row.get(name))),
        ),
      ).toEqual(expected)
      expect(got.every(row => row.get('symbol') === 'iost')).toBe(true)
    }
  })
}
