import { expect, test } from 'bun:test'
import { readExposition } from '#test/support/exposition.ts'
import { createCounters, createExposition, type Definition, label, type ScrapedMetric } from './counters.ts'

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
} as const satisfies Record<string, Definition>

function setUp(readings: readonly ScrapedMetric[] = []) {
  const counters = createCounters<keyof typeof definitions>(definitions)
  const { text } = createExposition(definitions, counters, readings)
  return { ...counters, read: async () => readExposition(await text()) }
}

test('metrics: counts are summed by labels', async () => {
  const { calls, read } = setUp()
  calls.add(1, 'a/one', '200')
  calls.add(2, 'a/one', '200')
  calls.add(1, 'b/two', '503')
  const { value, sum, types } = await read()
  expect(value('x_calls_total', { module: 'a', action: 'one', status: '200' })).toBe(3)
  expect(value('x_calls_total', { module: 'b', action: 'two', status: '503' })).toBe(1)
  expect([sum('x_calls_total'), sum('x_calls_total', { module: 'b', action: 'one' })]).toEqual([4, 0])
  expect([...types]).toEqual([
    ['x_calls_total', 'counter'],
    ['x_seconds', 'histogram'],
    ['x_open', 'gauge'],
  ])
})

test('metrics: an unknown label is counted as other', async () => {
  const { calls, read } = setUp()
  for (const name of ['__proto__', 'constructor', 'x"}\n', '12345', '']) calls.add(1, name, name)
  const { samples } = await read()
  const shown = samples.filter(({ name }) => name === 'x_calls_total')
  const counted = shown.filter(({ value }) => value > 0)
  expect(counted.map(({ value, labels }) => [value, new Set(labels.values())])).toEqual([[5, new Set(['other'])]])
  // The four known series are shown from the start.
  expect(shown).toHaveLength(5)
})

test('metrics: the buckets of a histogram are cumulative and include their bounds', async () => {
  const { seconds, read } = setUp()
  for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe(value, 'get')
  const { value } = await read()
  const bucket = (le: string) => value('x_seconds_bucket', { call: 'get', le })
  expect(['0.1', '1', '+Inf'].map(bucket)).toEqual([2, 3, 4])
  expect([value('x_seconds_count', { call: 'get' }), value('x_seconds_sum', { call: 'get' })]).toEqual([4, 7.65])
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
