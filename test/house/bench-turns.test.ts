import { expect, test } from 'bun:test'
import { type Client, measureInTurns } from '../../scripts/benchmarks/requests.ts'

const TARGETS = ['a', 'b', 'c'].map(name => ({ name, url: 'http://127.0.0.1:1', paths: [name] }))
const TURNS = { clients: 1, seconds: 1, elasticPid: undefined }
const FIGURES = { requests: 10, p50: 1, p99: 2, failed: 0 }

test('bench: the order of the targets alternates, and the round with the highest rate counts for each', async () => {
  const rates = [10, 20, 30, 31, 19, 12, 11, 25, 29]
  let asked = ''
  const client: Client = async ({ name }) => {
    asked += name
    return { ...FIGURES, perSecond: rates[asked.length - 1] ?? 0 }
  }
  const rows = await measureInTurns(TARGETS, { ...TURNS, client, rounds: 3 })
  expect(asked).toBe('abccbaabc')
  expect(rows.map(row => [row['what'], row['/s']])).toEqual([
    ['a', 12],
    ['b', 25],
    ['c', 31],
  ])
})

test('bench: a turn with failed requests is repeated', async () => {
  let turns = 0
  const client: Client = async () => ({ ...FIGURES, perSecond: ++turns, failed: turns < 3 ? 1 : 0 })
  const [row] = await measureInTurns(TARGETS.slice(0, 1), { ...TURNS, client, rounds: 1 })
  expect(row?.['/s']).toBe(3)
})

test('bench: a turn whose requests always fail gives no figure', async () => {
  const client: Client = async () => ({ ...FIGURES, perSecond: 9, failed: 3 })
  await expect(measureInTurns(TARGETS, { ...TURNS, client, rounds: 1 })).rejects.toThrow('3 of 10 requests failed')
})
