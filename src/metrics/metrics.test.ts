import { expect, test } from 'bun:test'
import { readExposition } from '#test/support/exposition.ts'
import { createCounters, createExposition, type Definition, label } from './counters.ts'

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

function setUp() {
  const counters = createCounters<keyof typeof definitions>(definitions)
  const { text } = createExposition(definitions, counters, [])
  return { ...counters, read: async () => readExposition(await text()) }
}

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
