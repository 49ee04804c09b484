import { describe, expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import { fullPart, type SeriesDoc, series, seriesOf } from '#indices/series.ts'
import { applyHeldEntry, parseEntries, parseHeld, parsePackedNumber } from '#indices/series-entry.ts'
import { tokens } from '#indices/token.ts'
import { votes } from '#indices/vote.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { seeded } from '#test/support/seeded.ts'
import { derivedRecording } from '#test/support/stores/derived-chain.ts'

// Awaited here and not in a test: deriving the chain takes longer than the time limit of a test.
const chain = await derivedRecording()
const blocks = (await recordedBlocks()).map(({ block }) => block)

/** All parts of a series, from the first to the newest. */
function partsOf(key: string): readonly SeriesDoc[] {
  const newest = chain.state.get(series, key)
  if (newest === undefined) return []
  const full = Array.from({ length: newest.part }, (_, part) => chain.state.get(series, fullPart(key, part)))
  return [...full, newest].filter(part => part !== undefined)
}

const entriesOf = (key: string) => partsOf(key).flatMap(part => parseEntries(part.entries, part.height))

const heldUntil = (key: string, height: number) =>
  entriesOf(key)
    .filter(entry => entry.height <= height)
    .reduce(
      (held, entry) => applyHeldEntry(held, entry, Math.min(entry.times, height - entry.height + 1)),
      parseHeld([]),
    )

const sumOf = (key: string): bigint =>
  entriesOf(key).reduce((sum, { change, times }) => sum + change * BigInt(times), 0n)

describe('series of the recorded chain', () => {
  test('deriveBlock: every balance is the end of its series, also from the opening of each part', () => {
    for (const { id, amount, frozen, frozen_list } of chain.state.all(balances)) {
      const now = { available: amount, frozen, list: frozen_list }
      expect([id, heldUntil(seriesOf.balance(id), blocks.length)]).toEqual([id, now])
      const last = partsOf(id).at(-1)
      if (last === undefined) continue
      const end = parseEntries(last.entries, last.height).reduce(
        (held, entry) => applyHeldEntry(held, entry, entry.times),
        parseHeld(last.opening),
      )
      expect([id, end]).toEqual([id, now])
      expect(parsePackedNumber(last.gained) - parsePackedNumber(last.lost)).toBe(amount + frozen)
    }
  })

  test('deriveBlock: parts are numbered without a gap and begin where the previous one ends', () => {
    for (const { id } of chain.state.all(balances)) {
      let first = 1
      for (const [at, part] of partsOf(id).entries()) {
        expect([id, part.part, part.first]).toEqual([id, at, first])
        const inIt = parseEntries(part.entries, part.height).reduce((sum, { times }) => sum + times, 0)
        expect(part.count).toBe(inIt)
        first += inIt
      }
    }
  })

  test('deriveBlock: balances at random heights match a replay of the blocks', () => {
    const past = plainPast(blocks)
    const random = seeded(7)
    const ids = [...past.changes.keys()]
    for (let at = 0; at < 4_000; at++) {
      const id = ids[Math.floor(random() * ids.length)] ?? ''
      const height = Math.floor(random() * blocks.length)
      expect([id, height, heldUntil(seriesOf.balance(id), height)]).toEqual([
        id,
        height,
        plainHeld(past, id, height) as never,
      ])
    }
  })

  test('deriveBlock: supplies, holders and votes are the ends of their series', () => {
    for (const { symbol, current_supply, holder_count } of chain.state.all(tokens)) {
      expect(sumOf(seriesOf.supply(symbol))).toBe(current_supply)
      expect(sumOf(seriesOf.holders(symbol))).toBe(BigInt(holder_count))
    }
    for (const { producer, voter, votes: now } of chain.state.all(votes)) {
      const of = entriesOf(seriesOf.voter(voter)).filter(({ more: [name] }) => name === producer)
      expect(of.reduce((sum, { change }) => sum + change, 0n)).toBe(now)
      const by = entriesOf(seriesOf.producer(producer)).filter(({ more: [name] }) => name === voter)
      expect(by.reduce((sum, { change }) => sum + change, 0n)).toBe(now)
    }
  })
})
