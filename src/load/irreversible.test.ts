import { expect, test } from 'bun:test'
import { spokenNode } from '#test/spoken-node.ts'
import { irreversible } from './irreversible.ts'

/** What is made of each thing a node says, one after the other, with `loaded` blocks; and what is logged. */
const heard = async (said: readonly number[], { has, loaded }: { has: number; loaded: number }) => {
  const lines: string[] = []
  let at = 0
  const final = irreversible(
    {
      chainInfo: async () => spokenNode({}, { libBlock: said[at++] ?? 0 }).chainInfo(),
      blockHash: async height => (height <= has ? `hash-${height}` : undefined),
    },
    (_, message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`),
  )
  const believed: (number | undefined)[] = []
  for (const _ of said) believed.push(await final.look(loaded, new AbortController().signal))
  return { believed, lines }
}

test('irreversible: nonsense is passed over, said once, and forgotten', async () => {
  const { believed, lines } = await heard([100, 10 ** 15, 10 ** 15, 101, 102], { has: 200, loaded: 99 })
  expect(believed).toEqual([100, undefined, undefined, 101, 102])
  expect(lines).toEqual([
    'The node does not have the last irreversible block it names; it is asked again. {"lib":1000000000000000,"head":4851,"loaded":99}',
  ])
})

test('irreversible: one that goes back is believed, and said once each time', async () => {
  const { believed, lines } = await heard([100, 40, 41, 100, 30], { has: 200, loaded: 100 })
  expect(believed).toEqual([100, 40, 41, 100, 30])
  expect(lines.map(line => /\{.*/.exec(line)?.[0])).toEqual([
    '{"lib":40,"loaded":100}',
    '{"lib":30,"loaded":100}',
  ])
})

test('irreversible: one that stands still is said after a minute of looks, and again after it went on', async () => {
  const still = Array.from({ length: 200 }, () => 100)
  const { lines } = await heard([...still, 101, ...still.map(() => 101)], { has: 200, loaded: 100 })
  expect(lines).toEqual([
    'The node\'s last irreversible block stands still. {"lib":100}',
    'The node\'s last irreversible block stands still. {"lib":101}',
  ])
})
