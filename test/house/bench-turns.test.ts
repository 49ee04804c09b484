import { expect, test } from 'bun:test'
import { inTurns } from '../../scripts/benchmarks/in-turns.ts'
import type { Client } from '../../scripts/benchmarks/lean-client.ts'

/** A client whose loads have these rates, in order. `asked` collects the requested paths. */
const clientWith = (rates: readonly number[], asked: string[]): Client => {
  let next = 0
  return {
    load: async ({ paths }) => {
      asked.push(...paths)
      return { requests: 10, perSecond: rates[next++] ?? 0, p50: 1, p99: 2, failed: 0 }
    },
  }
}

const SIDES = ['a', 'b', 'c'].map(name => ({ name, target: { url: 'http://127.0.0.1:1', paths: [name] } }))
const TURNS = { clients: 1, seconds: 1, elasticPid: undefined }

test('bench: the order of the sides alternates, and the round with the highest rate counts for each side', async () => {
  const asked: string[] = []
  const client = clientWith([10, 20, 30, 31, 19, 12, 11, 25, 29], asked)
  const figures = await inTurns(SIDES, { ...TURNS, client, rounds: 3 })
  expect(asked.join('')).toBe('abccbaabc')
  expect(figures.map(({ name, perSecond }) => [name, perSecond])).toEqual([
    ['a', 12],
    ['b', 25],
    ['c', 31],
  ])
})

test('bench: a turn with failed requests is repeated', async () => {
  let turns = 0
  const client: Client = {
    load: async () => ({ requests: 10, perSecond: ++turns, p50: 1, p99: 2, failed: turns < 3 ? 1 : 0 }),
  }
  const [figures] = await inTurns(SIDES.slice(0, 1), { ...TURNS, client, rounds: 1 })
  expect(figures).toMatchObject({ perSecond: 3, failed: 0 })
})

test('bench: a turn whose requests always fail gives no figure', async () => {
  const client: Client = {
    load: async () => ({ requests: 10, perSecond: 9, p50: 1, p99: 2, failed: 3 }),
  }
  await expect(inTurns(SIDES, { ...TURNS, client, rounds: 1 })).rejects.toThrow('3 of 10 requests failed')
})
