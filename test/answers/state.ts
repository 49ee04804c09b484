import { expect, test } from 'bun:test'
import { formatUnits, toUnits } from '#chain/amount.ts'
import { toIso } from '#chain/time.ts'
import { type Oracle, oracle, recordedBlocks, rpcAnswers, type Tree } from '#test/support/nodes/recording.ts'
import { readReceipts } from '#test/support/oracle/receipts.ts'
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
const byAmountThenName = (a: readonly [string, bigint], b: readonly [string, bigint]): number =>
  a[1] === b[1] ? (a[0] < b[0] ? -1 : 1) : a[1] > b[1] ? -1 : 1

const votesOf = (state: Oracle, producer: string): bigint =>
  toUnits(String(state.producerVotes.get(producer)?.get('votes') ?? '0'), 8)

const toMap = (row: Readonly<Record<string, Data>>): Data => new Map(Object.entries(row))

async function setup() {
  const state = await oracle()
  const now = (await recordedBlocks()).at(-1)?.block.time ?? 0n
  return { state, now, available: availableOf(state, now) }
}

/** The recorded chain's state through the API, as the node's own storage. `every`: each n-th owner is compared. */
export function stateSuite(service: () => Service, every = 1): void {
  const some = <T>(of: Iterable<T>): readonly T[] => [...of].filter((_, at) => at % every === 0)

  test("every token matches the node's storage, with the block that created it", async () => {
    const { state, available } = await setup()
    const created = new Map<string, readonly [string, string]>()
    const blocks = (await recordedBlocks()).map(({ block }) => block)
    for (const { time, tx, args } of readReceipts(blocks, /^token\.iost\/(create)$/))
      created.set(args[0] ?? '', [tx.hash, toIso(time)])
    expect(state.tokens.size).toBe(28)
    for (const [symbol, stored] of state.tokens) {
      const decimal = decimalsOf(state, symbol)
      const [hash, time] = created.get(symbol) ?? ['', '']
      expect(await dataOf(service(), 'token-detail', { token: symbol })).toEqual(
        toMap({
          can_transfer: stored.get('canTransfer') === 'true',
          created_at: time,
          current_supply: formatUnits(BigInt(stored.get('supply') ?? 0), decimal),
          decimal: String(decimal),
          only_issuer_can_transfer: stored.get('onlyIssuerCanTransfer') === 'true',
          full_name: stored.get('fullName') ?? '',
          holder_count: String([...(available.get(symbol) ?? []).values()].filter(a => a > 0n).length),
          issuer: stored.get('issuer') ?? '',
          symbol,
          total_supply: formatUnits(BigInt(stored.get('totalSupply') ?? 0), decimal),
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
          balance: formatUnits(amount, decimalsOf(state, symbol)),
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
      const frozen = locked.map(([amount, time]) => toMap({ amount: formatUnits(amount, 8), time }))
      const given = votes.map(([option, amount]) =>
        toMap({ option, votes: formatUnits(amount, 8), cleared_votes: '0' }),
      )
      const total = (amounts: readonly bigint[], list: readonly Data[]) =>
        toMap({ total: formatUnits(sum(amounts), 8), list })
      expect(await dataOf(service(), 'account-balance', { account: owner })).toEqual(
        toMap({
          name: owner,
          balance: formatUnits(available.get('iost')?.get(owner) ?? 0n, 8),
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
        const own = lockedOf(state, symbol, owner, now)
        const held = sum(own.map(([units]) => units))
        const decimal = decimalsOf(state, symbol)
        if (amount === 0n && held === 0n) return []
        const entries = own.map(([units, time]) => toMap({ amount: formatUnits(units, decimal), time }))
        return [[symbol, formatUnits(amount, decimal), formatUnits(held, decimal), String(decimal), entries]]
      })
      const list = await dataOf(service(), 'token-list', { account: owner })
      expect(
        rowsOf(list, 'tokens').map(row =>
          ['symbol', 'balance', 'frozen_balance', 'decimal', 'frozen_list'].map(name => row.get(name)),
        ),
      ).toEqual(tokens)
      const length = String(tokens.length)
      expect(['page', 'size', 'total'].map(name => field(list, name))).toEqual(['1', length, length])
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
        [owner, total, ...parts].map(v => (typeof v === 'bigint' ? formatUnits(v, 8) : v)),
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

const DAY_NS = 86_400_000_000_000n

/** Producers, voters, contracts and the overview, as storage, recorded answers and blocks say. */
export function producerSuite(service: () => Service): void {
  test('every producer matches its row in the table and the number of blocks it signed', async () => {
    const state = await oracle()
    const blocks = await recordedBlocks()
    // One producer signs every block of the recording. Genesis has no signer.
    const counts = new Map([['producer000', blocks.length - 1]])
    const ranking = [...state.producers.keys()]
      .map(name => [name, votesOf(state, name)] as const)
      .sort(byAmountThenName)
      .map(([name]) => name)
    expect(ranking.length).toBe(13)
    const details = new Map<string, Data>()
    for (const [account, row] of state.producers) {
      const data = await dataOf(service(), 'producer-detail', { producer: account })
      details.set(account, data)
      const same = ['pubkey', 'loc', 'url', 'isProducer', 'online']
      expect(same.map(name => field(data, name))).toEqual(same.map(name => row.get(name) as Data))
      expect(['account', 'status', 'votes', 'ranking', 'block_count'].map(name => field(data, name))).toEqual([
        account,
        ['APPLY', 'APPROVED', 'UNAPPLY', 'UNAPPLY_APPROVED'][Number(row.get('status'))] ?? '',
        formatUnits(votesOf(state, account), 8),
        String(ranking.indexOf(account) + 1),
        String(counts.get(account) ?? 0),
      ])
      const answer = (await rpcAnswers()).get(`GET /getProducerVoteInfo/${account}/true`)
      expect(Number(field(data, 'votes'))).toBe(Number(field(parseData(answer ?? ''), 'votes')))
    }
    const byRate = [...details]
      .map(([name, data]) => [name, toUnits(String(field(data, 'dividend_rate')), 8)] as const)
      .sort(byAmountThenName)
    for (const [at, [name]] of byRate.entries())
      expect(field(details.get(name), 'dividend_rate_ranking')).toBe(String(at + 1))
  })

  test('awards and dividends match the sums of the receipts that pay them', async () => {
    const state = await oracle()
    const blocks = (await recordedBlocks()).map(({ block }) => block)
    const awards = new Map<string, bigint>()
    const paid = new Map<string, bigint>()
    const add = (to: Map<string, bigint>, name: string, amount: string) =>
      to.set(name, (to.get(name) ?? 0n) + toUnits(amount, 8))
    const today = (blocks.at(-1)?.time ?? 0n) / DAY_NS
    const names = /^(token\.iost\/transfer|vote_producer\.iost\/(?:candidateWithdraw|topupVoterBonus))$/
    for (const { time, name, args } of readReceipts(blocks, names)) {
      const [first = '', second = '', third = '', fourth = ''] = args
      const recent = time / DAY_NS > today - 30n
      if (name === 'token.iost/transfer') {
        if (first === 'iost' && second === 'bonus.iost') add(awards, third, fourth)
      } else if (name === 'vote_producer.iost/candidateWithdraw') {
        add(awards, first, second)
        if (recent) add(paid, first, third)
      } else if (recent) add(paid, first, second)
    }
    expect(awards.size).toBeGreaterThan(0)
    expect(paid.size).toBeGreaterThan(0)
    for (const account of state.producers.keys()) {
      const data = await dataOf(service(), 'producer-detail', { producer: account })
      expect(field(data, 'received_award')).toBe(formatUnits(awards.get(account) ?? 0n, 8))
      const votes = votesOf(state, account)
      const paidUnits = paid.get(account) ?? 0n
      // Rounding to 8 decimals: twice the numerator plus the denominator, divided by twice the denominator.
      const rate = votes === 0n ? 0n : (2n * paidUnits * 365n * 100_000_000n + votes * 30n) / (2n * votes * 30n)
      expect(field(data, 'dividend_rate')).toBe(formatUnits(rate, 8))
    }
  })

  test('voters of every producer match the storage, as a whole and page by page', async () => {
    const state = await oracle()
    let pairs = 0
    for (const [producer, voters] of state.votes) {
      const expected = [...voters]
        .map(([account, votes]) => [account, toUnits(votes, 8)] as const)
        .filter(([, votes]) => votes > 0n)
        .sort(byAmountThenName)
        .map(([account, votes]) => ({ account, votes: formatUnits(votes, 8) }))
      const whole = await dataOf(service(), 'producer-voter', { producer })
      const plain = (row: ReadonlyMap<string, Data>) => Object.fromEntries(row)
      expect(rowsOf(whole, 'voters').map(plain)).toEqual(expected)
      const length = String(expected.length)
      expect(['page', 'size', 'total'].map(name => field(whole, name))).toEqual(['1', length, length])
      for (const size of [7, 20])
        expect((await allRows(service(), 'producer-voter', 'voters', { account: producer }, size)).map(plain)).toEqual(
          expected,
        )
      pairs += expected.length
    }
    expect(pairs).toBe(633)
  })

  test("every contract and its ABI match the node's getContract, with the block of its deployment", async () => {
    const state = await oracle()
    const genesis = (await recordedBlocks())[0]?.block
    const ids = new Set([...state.contracts.keys(), 'system.iost'])
    for (const action of genesis?.transactions[0]?.actions ?? [])
      if (action.actionName === 'initSetCode') ids.add((JSON.parse(action.data) as string[])[0] ?? '')
    const deployed = new Map<string, readonly [string, string, string]>()
    for (const { block } of await recordedBlocks())
      for (const tx of block.transactions)
        if (tx.receipt.statusCode === 'SUCCESS')
          tx.actions.forEach((action, at) => {
            if (action.contract !== 'system.iost' || !/^(setCode|initSetCode)$/.test(action.actionName)) return
            const id = (JSON.parse(tx.receipt.returns[at] ?? '[]') as string[])[0] ?? ''
            deployed.set(id, [tx.publisher, tx.hash, toIso(block.time)])
          })
    for (const id of ids) {
      const [publisher, hash, time] = deployed.get(id === 'system.iost' ? 'token.iost' : id) ?? []
      const detail = await dataOf(service(), 'contract-detail', { contract: id })
      const shown = ['contract_id', 'publisher', 'tx_hash', 'created_at'].map(name => field(detail, name))
      expect(shown).toEqual([id, publisher, hash, time])
      const text = (await rpcAnswers()).get(`GET /getContract/${id}/true`)
      if (text === undefined) continue
      const abis = rowsOf(await dataOf(service(), 'contract-abi', { contract: id }), 'abis')
      expect(abis).toEqual([...rowsOf(parseData(text), 'abis')])
    }
    expect(ids.size).toBeGreaterThanOrEqual(23)
  })

  test('the overview matches the sums over storage and blocks', async () => {
    const state = await oracle()
    const info = parseData((await rpcAnswers()).get('GET /getRAMInfo') ?? '')
    const supply = BigInt(state.tokens.get('iost')?.get('supply') ?? 0)
    const held = ['bonus.iost', 'issue.iost', 'vote_producer.iost', 'deadaddr'].map(owner =>
      BigInt(state.balances.get('iost')?.get(owner) ?? 0),
    )
    const votes = sum([...state.producers.keys()].map(name => votesOf(state, name)))
    const data = await dataOf(service(), 'overview')
    expect([...(data as ReadonlyMap<string, Tree>)].filter(([name]) => name !== 'price_time')).toEqual([
      ['account_count', '279'],
      ['all_votes', formatUnits(votes, 8)],
      ['circulating_supply', formatUnits(supply - sum(held), 8)],
      ['usd_price', null],
      ['cny_price', null],
      ['rank', null],
      ['contract_count', '23'],
      ['token_count', '28'],
      ['head_block', '4851'],
      ['lib_block', '4851'],
      ['highest_tps', '140'],
      ['ram_buy_price', field(info, 'buy_price') as string],
      ['ram_sell_price', field(info, 'sell_price') as string],
      ['total_ram', field(info, 'total_ram') as string],
      ['used_ram', field(info, 'used_ram') as string],
    ])
  })
}
