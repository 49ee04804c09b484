import { expect, test } from 'bun:test'
import { readExposition } from '#test/support/exposition.ts'
import { countersIn } from './counters.ts'
import { type Definition, label } from './definition.ts'
import { exposition, type ScrapedMetric } from './expose.ts'
import { forgetGauges, metricsMemory } from './memory.ts'

const definitions = {
  calls: {
    name: 'x_calls_total',
    help: 'Calls.',
    type: 'counter',
    dimensions: [
      {
        names: ['module', 'action'],
        values: [
          ['a', 'one'],
          ['b', 'two'],
        ],
      },
      label('status', ['200', '503']),
    ],
  },
  seconds: {
    name: 'x_seconds',
    help: 'A "time" with a \\ in its text.',
    type: 'histogram',
    dimensions: [label('call', ['get'])],
    buckets: [0.1, 1],
  },
  open: { name: 'x_open', help: 'Open.', type: 'gauge', dimensions: [] },
  late: { name: 'x_late', help: 'Late.', type: 'gauge', dimensions: [], perThread: true },
} as const satisfies Record<string, Definition>

const setUp = (readings: readonly ScrapedMetric[] = []) => {
  const memory = metricsMemory(definitions, 2)
  const threads = [0, 1].map(thread => countersIn(definitions, memory, thread))
  const [first, second] = threads
  if (first === undefined || second === undefined) throw new Error('There are two threads.')
  const { text } = exposition(definitions, memory, readings)
  return { memory, first, second, read: async () => readExposition(await text()) }
}

test('metrics: the counts of threads are summed by labels', async () => {
  const { first, second, read } = setUp()
  first.calls.add(1, 'a/one', '200')
  second.calls.add(2, 'a/one', '200')
  second.calls.add(1, 'b/two', '503')
  const { value, sum, types } = await read()
  expect(value('x_calls_total', { module: 'a', action: 'one', status: '200' })).toBe(3)
  expect(value('x_calls_total', { module: 'b', action: 'two', status: '503' })).toBe(1)
  expect([sum('x_calls_total'), sum('x_calls_total', { module: 'b', action: 'one' })]).toEqual([4, 0])
  expect([...types]).toEqual([
    ['x_calls_total', 'counter'],
    ['x_seconds', 'histogram'],
    ['x_open', 'gauge'],
    ['x_late', 'gauge'],
  ])
})

test('metrics: an unknown label is counted as other', async () => {
  const { first, read } = setUp()
  for (const name of ['__proto__', 'constructor', 'x"}\n', '12345', '']) first.calls.add(1, name, name)
  const { samples } = await read()
  const calls = samples.filter(({ name }) => name === 'x_calls_total')
  const counted = calls.filter(({ value }) => value > 0)
  expect(counted.map(({ value, labels }) => [value, new Set(labels.values())])).toEqual([[5, new Set(['other'])]])
  // The four known series are shown from the start.
  expect(calls).toHaveLength(5)
})

test('metrics: the buckets of a histogram are cumulative and include their bounds', async () => {
  const { first, second, read } = setUp()
  for (const value of [0.05, 0.1, 0.5]) first.seconds.observe(value, 'get')
  second.seconds.observe(7, 'get')
  const { value } = await read()
  const bucket = (le: string) => value('x_seconds_bucket', { call: 'get', le })
  expect(['0.1', '1', '+Inf'].map(bucket)).toEqual([2, 3, 4])
  expect([value('x_seconds_count', { call: 'get' }), value('x_seconds_sum', { call: 'get' })]).toEqual([4, 7.65])
})

test('metrics: a dead thread has no open items, and its counts stay', async () => {
  const { memory, first, second, read } = setUp()
  first.open.add(1)
  second.open.add(2)
  second.calls.add(1, 'a/one', '200')
  second.late.set(0.5)
  first.late.set(0.25)
  const before = await read()
  expect([before.value('x_open'), before.value('x_late', { thread: '1' })]).toEqual([3, 0.5])
  forgetGauges(definitions, memory, 1)
  const after = await read()
  expect([after.value('x_open'), after.sum('x_calls_total'), after.sum('x_late')]).toEqual([1, 1, 0.25])
})

test('metrics: an unknown figure has no value', async () => {
  let height: number | undefined
  const { read } = setUp([
    {
      name: 'x_height',
      help: 'Height.',
      type: 'gauge',
      labels: ['node'],
      read: () => (height === undefined ? [] : [{ labels: ['a'], value: height }]),
    },
  ])
  expect((await read()).value('x_height')).toBeUndefined()
  height = 0
  expect((await read()).value('x_height', { node: 'a' })).toBe(0)
})
