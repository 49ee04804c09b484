import { describe, expect, test } from 'bun:test'
import { fromUnits, toUnits } from '#chain/amount.ts'
import { producerKeys, producers } from '#indices/producer.ts'
import { votes } from '#indices/vote.ts'
import { oracle, recordedBlocks, type Tree } from '#test/support/nodes/recording.ts'
import { type Row, sortedByKey } from '#test/support/sorted-by-key.ts'
import { derivedRecording } from '#test/support/stores/derived-chain.ts'

// Awaited here and not in a test: deriving the chain takes longer than the time limit of a test.
const chain = await derivedRecording()
const truth = await oracle()

function plain(value: Tree): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, entry]) => [key, plain(entry)]))
  return Array.isArray(value) ? value.map(plain) : value
}

describe('deriveBlock: producers of the recording against its node', () => {
  test('deriveBlock: producers in the table and their keys match the node', () => {
    const expected = [...truth.producers].map(([account, row]) => [account, plain(row)] as const)
    const derived = chain.state
      .all(producers)
      .filter(({ registered }) => registered)
      .map(
        ({ account, pubkey, loc, url, net_id, is_producer, status, online }) =>
          [account, { pubkey, loc, url, netId: net_id, isProducer: is_producer, status, online }] as const,
      )
    expect(sortedByKey(derived)).toEqual(sortedByKey(expected))
    const keys = chain.state.all(producerKeys).filter(({ account }) => account !== '')
    expect(sortedByKey(keys.map(({ id, account }) => [id, account] as const))).toEqual(sortedByKey(truth.producerKeys))
  })

  test('deriveBlock: votes per producer and voter, and per producer, match the node', () => {
    const expected: Row[] = []
    for (const [producer, voters] of truth.votes)
      for (const [voter, text] of voters) expected.push([`${producer}/${voter}`, toUnits(text, 8)])
    const derived = chain.state.all(votes).filter(vote => vote.votes > 0n)
    expect(derived.length).toBe(633)
    expect(sortedByKey(derived.map(vote => [vote.id, vote.votes] as const))).toEqual(sortedByKey(expected))

    const totals = [...truth.producerVotes].map(
      ([producer, option]) =>
        [producer, { votes: option.get('votes'), voter_count: truth.votes.get(producer)?.size ?? 0 }] as const,
    )
    const producersWithVotes = chain.state
      .all(producers)
      .filter(({ votes: all, registered }) => registered || all > 0n)
      .map(doc => [doc.account, { votes: fromUnits(doc.votes, 8), voter_count: doc.voter_count }] as const)
    expect(sortedByKey(producersWithVotes)).toEqual(sortedByKey(totals))
  })

  test('deriveBlock: awards and payouts match the receipts of withdrawals, top-ups and exchanges', async () => {
    const awards = new Map<string, bigint>()
    const payouts = new Map<string, bigint>()
    const add = (to: Map<string, bigint>, name: string, text: string) =>
      to.set(name, (to.get(name) ?? 0n) + toUnits(text, 8))
    for (const { block } of await recordedBlocks())
      for (const { receipt } of block.transactions)
        for (const { funcName, content } of receipt.receipts) {
          if (!/^(vote_producer|token)\.iost\/(candidateWithdraw|topupVoterBonus|transfer)$/.test(funcName)) continue
          const [first = '', second = '', third = '', fourth = ''] = JSON.parse(content) as string[]
          if (funcName.endsWith('/candidateWithdraw')) {
            add(awards, first, second)
            add(payouts, first, third)
          } else if (funcName.endsWith('/topupVoterBonus')) add(payouts, first, second)
          else if (first === 'iost' && second === 'bonus.iost') add(awards, third, fourth)
        }
    const all = chain.state.all(producers)
    const paid = all.map(
      doc => [doc.account, doc.payouts.reduce((total, [, amount]) => total + BigInt(amount), 0n)] as const,
    )
    const got = all.map(doc => [doc.account, doc.received_award] as const)
    expect(awards.size).toBeGreaterThan(0)
    expect(payouts.size).toBeGreaterThan(0)
    expect(sortedByKey(got.filter(([, amount]) => amount > 0n))).toEqual(sortedByKey(awards))
    expect(sortedByKey(paid.filter(([, amount]) => amount > 0n))).toEqual(sortedByKey(payouts))
    // All payouts are on 2026-11-21.
    expect(new Set(all.flatMap(doc => doc.payouts.map(([day]) => day)))).toEqual(new Set([20_778]))
  })
})
