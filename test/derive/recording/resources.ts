import { describe, expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { pledges } from '#indices/pledge.ts'
import { resources } from '#indices/resource.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { oracle, rpcAnswers } from '#test/support/nodes/recording.ts'
import { type Row, sortedByKey } from '#test/support/sorted-by-key.ts'
import { derivedRecording } from '#test/support/stores/derived-chain.ts'

// Awaited here and not in a test: deriving the chain takes longer than the time limit of a test.
const chain = await derivedRecording()
const truth = await oracle()

describe('deriveBlock: gas and RAM of the recording against its node', () => {
  test('deriveBlock: gas of every account matches the node at its last refresh', () => {
    const expected = new Map<string, Map<string, bigint>>()
    for (const [key, text] of truth.gasTotals) {
      const [owner, kind] = [key.slice(0, -2), key.slice(-2)]
      const row = expected.get(owner) ?? new Map<string, bigint>()
      expected.set(owner, row)
      if (kind === 'gu') row.set(kind, BigInt(text))
      else {
        const { Value, Scale } = JSON.parse(text.replace(/"Value":(\d+)/, '"Value":"$1"')) as {
          Value: string
          Scale: number
        }
        row.set(kind, kind === 'gt' ? scaled(Value, Scale, 8) : scaled(Value, Scale, 3))
      }
    }
    const derived = chain.state
      .all(resources)
      .filter(({ gas_updated }) => gas_updated > 0n)
      .map(
        doc =>
          [
            doc.id,
            new Map([
              ['gl', doc.gas_limit],
              ['gs', doc.gas_stock],
              ['gt', doc.gas_pledge],
              ['gu', doc.gas_updated],
            ]),
          ] as const,
      )
    expect(sortedByKey(derived)).toEqual(sortedByKey(expected))
  })

  test('deriveBlock: gas pledges match the node per pair', () => {
    const expected: Row[] = []
    for (const [pledger, all] of truth.gasPledges)
      for (const [beneficiary, amount] of all)
        if (amount !== '0') expected.push([`${pledger}/${beneficiary}`, BigInt(amount)])
    const derived = chain.state.all(pledges).filter(({ amount }) => amount > 0n)
    expect(derived.length).toBe(1767)
    expect(sortedByKey(derived.map(({ id, amount }) => [id, amount] as const))).toEqual(sortedByKey(expected))
  })

  test("deriveBlock: pledges of an account are in the node's order", async () => {
    let compared = 0
    for (const [call, text] of await rpcAnswers()) {
      const name = /^GET \/getAccount\/([^/]+)\/true$/.exec(call)?.[1]
      if (name === undefined) continue
      const { pledged_info } = JSON.parse(text).gas_info
      const derived = chain.state
        .all(pledges)
        .filter(({ pledger, amount }) => pledger === name && amount > 0n)
        .sort((a, b) => a.seq - b.seq)
      expect(derived.map(doc => ({ pledger: doc.beneficiary, amount: Number(fromUnits(doc.amount, 8)) }))).toEqual(
        pledged_info,
      )
      compared += derived.length
    }
    expect(compared).toBeGreaterThan(1_000)
  })

  test('deriveBlock: RAM used and traded per owner and the market match the node', async () => {
    const expected: Row[] = []
    for (const [key, value] of truth.ramInfo)
      if (/^[UT]R/.test(key) && value !== '0') expected.push([key, BigInt(value)])
    const derived: Row[] = []
    for (const { id, ram_used, ram_total } of chain.state.all(resources)) {
      if (ram_used !== 0n) derived.push([`UR${id}`, ram_used])
      if (ram_total !== 0n) derived.push([`TR${id}`, ram_total])
    }
    expect(sortedByKey(derived)).toEqual(sortedByKey(expected))

    const ram = chain.state.get(statistics, STATISTICS)?.ram
    expect(ram).toEqual({
      left: truth.ramInfo.get('leftSpace') ?? '',
      used: truth.ramInfo.get('usedSpace') ?? '',
      balance: truth.ramInfo.get('balance') ?? '',
    })
    const node = JSON.parse((await rpcAnswers()).get('GET /getRAMInfo') ?? 'null')
    expect({
      sell: Number(ram?.balance) / Number(ram?.left),
      buy: (1.02 * Number(ram?.balance)) / Number(ram?.left),
    }).toEqual({ sell: node.sell_price, buy: node.buy_price })
  })
})

const scaled = (value: string, scale: number, to: number): bigint =>
  scale <= to ? BigInt(value) * 10n ** BigInt(to - scale) : BigInt(value) / 10n ** BigInt(scale - to)
