import { expect, test } from 'bun:test'
import { memberId } from '#indices/standing.ts'
import { series, seriesOf } from '#indices/series.ts'
import { collections, holdings, items, itemsOf, ownersOf } from '#indices/token721.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { derivedRecording } from '#test/support/stores/derived-chain.ts'

/** Owners and metadata of all items by a plain replay of the receipts. */
const plainItems = async () => {
  const found = new Map<string, { owner: string; metadata: string }>()
  const moves = new Map<string, number>()
  const issued = new Map<string, number>()
  for (const { block } of await recordedBlocks())
    for (const { receipt } of block.transactions) {
      if (receipt.statusCode !== 'SUCCESS') continue
      for (const { funcName, content } of receipt.receipts) {
        if (!/^token721\.iost\/(?:issue|transfer)$/.test(funcName)) continue
        const [symbol = '', second = '', third = '', item = ''] = JSON.parse(content) as string[]
        moves.set(symbol, (moves.get(symbol) ?? 0) + 1)
        if (funcName.endsWith('issue')) {
          const number = issued.get(symbol) ?? 0
          issued.set(symbol, number + 1)
          found.set(`${symbol}/${number}`, { owner: second, metadata: third })
        } else found.set(`${symbol}/${item}`, { owner: third, metadata: found.get(`${symbol}/${item}`)?.metadata ?? '' })
      }
    }
  return { found, moves, issued }
}

const { state } = await derivedRecording()

test('deriveBlock: owners and metadata of items are those of a plain replay, and all counts agree', async () => {
  const { found, moves, issued } = await plainItems()
  expect(found.size).toBe(30)
  expect(new Map(state.all(items).map(({ id, owner, metadata }) => [id, { owner, metadata }]))).toEqual(found)
  for (const { symbol, issued: count, holder_count } of state.all(collections)) {
    expect([symbol, count]).toEqual([symbol, issued.get(symbol) ?? 0])
    const own = [...found].filter(([id]) => id.startsWith(`${symbol}/`))
    const owners = new Map<string, number>()
    for (const [, { owner }] of own) owners.set(owner, (owners.get(owner) ?? 0) + 1)
    expect([symbol, holder_count]).toEqual([symbol, owners.size])
    for (const [owner, amount] of owners)
      expect(state.get(holdings, memberId(ownersOf(symbol), owner))?.amount).toBe(BigInt(amount))
    for (const [id, { owner }] of own) {
      const item = id.slice(symbol.length + 1)
      expect(state.get(holdings, memberId(itemsOf(symbol, owner), item))?.amount).toBe(BigInt(item) + 1n)
    }
    const last = state.get(series, seriesOf.collection(symbol))
    expect(last?.gained).toBe(String(moves.get(symbol)))
  }
  const held = state.all(holdings).filter(({ group, amount }) => group.startsWith('items/') && amount > 0n)
  expect(held.length).toBe(30)
})
