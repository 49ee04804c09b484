import { expect, setDefaultTimeout, test } from 'bun:test'
import { rpcAnswers } from '#test/support/nodes/recording.ts'
import { createChain } from './chain.ts'
import { KINDS } from './cycle-plan.ts'
import { readOptions } from './main.ts'
import { serveGenerated } from './serve.ts'
import { DEFAULTS, settingsOf } from './settings.ts'
import { small } from './small.ts'
import { truthAt } from './truth.ts'
import { worldOf } from './world.ts'

// `in-stores.test.ts` loads whole chains: that proves every block, and compares what is stored with the truth.
setDefaultTimeout(600_000)

test('the same settings give the same chain, in any order of requests; another seed gives another one', () => {
  const [far, near, other] = [small('sparse'), small('sparse'), small('sparse', 8)].map(createChain)
  const last = 2_490
  const wanted = far?.block(last)
  for (let height = 0; height < last; height += 1) near?.block(height)
  expect(near?.block(last)).toEqual(wanted as never)
  expect(far?.block(1)).toEqual(near?.block(1) as never)
  expect(other?.block(last).texts).not.toEqual(wanted?.texts as never)
})

test('a mixed cycle has every kind of transaction; many holders have equal balances', () => {
  const world = worldOf(small('mixed'))
  const kinds = new Set(Array.from({ length: world.schedule.count / 2 }, (_, j) => world.plan.read(j).kind))
  expect([...kinds].sort()).toEqual([...KINDS].sort())
  const sizes = Map.groupBy(truthAt(world, world.dawn).holders('coin'), ([, units]) => units)
  expect(Math.max(...[...sizes.values()].map(({ length }) => length))).toBeGreaterThan(15)
})

/** The names and types of a JSON value's members in order; of lists, only the last entry. */
function describeShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(-1).map(describeShape)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.entries(value).map(([name, member]) => [name, name === 'ramUsage' ? '' : describeShape(member)])
}

test('a raw block has the format of a recorded one, character by character between its values', async () => {
  const node = serveGenerated(small('busy'))
  const asked = await fetch(`${node.url}/getRawBlockByNumber/${node.chain.world.dawn + 1}/true`)
  const [made, recorded] = [await asked.text(), (await rpcAnswers()).get('GET /getRawBlockByNumber/1201/true') ?? '']
  await node.stop()
  const reduceText = (text: string): string =>
    text
      .replace(/"(?:[^"\\]|\\.)*"|\d+/g, 'x')
      .replace(/x(?:, x)+/g, 'x, x')
      .slice(0, 300)
  expect(describeShape({ ...JSON.parse(made).block })).toEqual(describeShape({ ...JSON.parse(recorded).block }))
  expect(reduceText(made)).toBe(reduceText(recorded))
})

test('readOptions: numbers, profile and address are read', () => {
  expect(readOptions(['--help'])).toBeUndefined()
  expect(readOptions([])).toEqual({ profile: DEFAULTS.profile, host: '127.0.0.1', port: 0 })
  const words = ['--seed', '9', '--blocks', '300000000', '--profile', 'busy', '--listen', 'localhost:81']
  expect(readOptions(words)).toEqual({ seed: 9, blocks: 300_000_000, profile: 'busy', host: 'localhost', port: 81 })
})

test.each<readonly [() => unknown, string]>([
  [() => readOptions(['--seed', '1e3']), '--seed 1e3 is not a whole number.'],
  [() => readOptions(['--profile', 'huge']), '--profile huge is none of sparse, busy, mixed.'],
  [() => settingsOf({ holders: 5 }), 'holders 5 is not a whole number of 100 … 10000000.'],
  [() => settingsOf({ holders: 200, voters: 300 }), 'voters 300 are more than the 200 holders.'],
  [() => settingsOf({ cycle: 64, producers: 17 }), 'cycle 64 is below 16 blocks for each of 17'],
])('options: %p is refused by name', (read, message) => {
  expect(read).toThrow(message)
})
