import { expect, test } from 'bun:test'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { oracle, recordedBlocks, rpcAnswers, type Tree } from '#test/support/nodes/recording.ts'
import type { Service } from '#test/support/processes/service.ts'
import { allRows, type Data, dataOf, field, parseData, rowsOf } from './answers.ts'

const DAY_NS = 86_400_000_000_000n

/**
 * Producers, voters, contracts and the overview of the recorded chain, compared with storage, recorded
 * answers and blocks.
 */
export function producerSuite(service: () => Service): void {
  test('every producer matches its row in the table and the number of blocks it signed', async () => {
    const state = await oracle()
    const blocks = await recordedBlocks()
    // One producer signs every block of the recording. Genesis has no signer.
    const counts = new Map([['producer000', blocks.length - 1]])
    const votesOf = (name: string): bigint => toUnits(String(state.producerVotes.get(name)?.get('votes') ?? '0'), 8)
    const ranking = [...state.producers.keys()].sort((a, b) =>
      votesOf(a) === votesOf(b) ? (a < b ? -1 : 1) : votesOf(a) > votesOf(b) ? -1 : 1,
    )
    expect(ranking.length).toBe(13)
    const details = new Map<string, Data>()
    for (const [account, row] of state.producers) {
      const data = await dataOf(service(), 'producer-detail', { producer: account })
      details.set(account, data)
      const ours = [
        'account',
        'pubkey',
        'loc',
        'url',
        'status',
        'isProducer',
        'online',
        'votes',
        'ranking',
        'block_count',
      ]
      expect(ours.map(name => field(data, name))).toEqual([
        account,
        row.get('pubkey') as string,
        row.get('loc') as string,
        row.get('url') as string,
        ['APPLY', 'APPROVED', 'UNAPPLY', 'UNAPPLY_APPROVED'][Number(row.get('status'))] ?? '',
        row.get('isProducer') as boolean,
        row.get('online') as boolean,
        fromUnits(votesOf(account), 8),
        String(ranking.indexOf(account) + 1),
        String(counts.get(account) ?? 0),
      ])
      const answer = (await rpcAnswers()).get(`GET /getProducerVoteInfo/${account}/true`)
      expect(Number(field(data, 'votes'))).toBe(Number(field(parseData(answer ?? ''), 'votes')))
    }
    const byRate = [...details].sort(([a, x], [b, y]) => {
      const [left, right] = [Number(field(x, 'dividend_rate')), Number(field(y, 'dividend_rate'))]
      return left === right ? (a < b ? -1 : 1) : right - left
    })
    expect(byRate.map(([, data]) => field(data, 'dividend_rate_ranking'))).toEqual(
      byRate.map((_, at) => String(at + 1)),
    )
  })

  test('awards and dividends match the sums of the receipts that pay them', async () => {
    const state = await oracle()
    const blocks = await recordedBlocks()
    const awards = new Map<string, bigint>()
    const paid = new Map<string, bigint>()
    const add = (to: Map<string, bigint>, name: string, amount: string) =>
      to.set(name, (to.get(name) ?? 0n) + toUnits(amount, 8))
    const today = (blocks.at(-1)?.block.time ?? 0n) / DAY_NS
    for (const { block } of blocks)
      for (const tx of block.transactions) {
        if (tx.receipt.statusCode !== 'SUCCESS') continue
        const recent = block.time / DAY_NS > today - 30n
        for (const { funcName, content } of tx.receipt.receipts) {
          if (!/^(token|vote_producer)\.iost\//.test(funcName) || !content.startsWith('[')) continue
          const args = JSON.parse(content) as string[]
          const [first = '', second = '', third = '', fourth = ''] = args
          if (funcName === 'token.iost/transfer' && first === 'iost' && second === 'bonus.iost')
            add(awards, third, fourth)
          if (funcName === 'vote_producer.iost/candidateWithdraw') {
            add(awards, first, second)
            if (recent) add(paid, first, third)
          }
          if (funcName === 'vote_producer.iost/topupVoterBonus' && recent) add(paid, first, second)
        }
      }
    expect(awards.size).toBeGreaterThan(0)
    expect(paid.size).toBeGreaterThan(0)
    for (const account of state.producers.keys()) {
      const data = await dataOf(service(), 'producer-detail', { producer: account })
      expect(field(data, 'received_award')).toBe(fromUnits(awards.get(account) ?? 0n, 8))
      const votes = toUnits(String(state.producerVotes.get(account)?.get('votes') ?? '0'), 8)
      const paidUnits = paid.get(account) ?? 0n
      // Rounding to 8 decimals: twice the numerator plus the denominator, divided by twice the denominator.
      const rate = votes === 0n ? 0n : (2n * paidUnits * 365n * 100_000_000n + votes * 30n) / (2n * votes * 30n)
      expect(field(data, 'dividend_rate')).toBe(fromUnits(rate, 8))
    }
  })

  test('voters of every producer match the storage, as a whole and page by page', async () => {
    const state = await oracle()
    let pairs = 0
    for (const [producer, voters] of state.votes) {
      const expected = [...voters]
        .map(([account, votes]) => [account, toUnits(votes, 8)] as const)
        .filter(([, votes]) => votes > 0n)
        .sort((a, b) => (a[1] === b[1] ? (a[0] < b[0] ? -1 : 1) : a[1] > b[1] ? -1 : 1))
        .map(([account, votes]) => ({ account, votes: fromUnits(votes, 8) }))
      const whole = await dataOf(service(), 'producer-voter', { producer })
      const plain = (row: ReadonlyMap<string, Data>) => Object.fromEntries(row)
      expect(rowsOf(whole, 'voters').map(plain)).toEqual(expected)
      expect([field(whole, 'page'), field(whole, 'size'), field(whole, 'total')]).toEqual([
        '1',
        String(expected.length),
        String(expected.length),
      ])
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
            deployed.set(id, [tx.publisher, tx.hash, new Date(Number(block.time / 1_000_000n)).toISOString()])
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
    const votes = [...state.producers.keys()].reduce(
      (all, name) => all + toUnits(String(state.producerVotes.get(name)?.get('votes') ?? '0'), 8),
      0n,
    )
    const data = await dataOf(service(), 'overview')
    expect([...(data as ReadonlyMap<string, Tree>)].filter(([name]) => name !== 'price_time')).toEqual([
      ['account_count', '279'],
      ['all_votes', fromUnits(votes, 8)],
      ['circulating_supply', fromUnits(supply - held.reduce((a, b) => a + b, 0n), 8)],
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
