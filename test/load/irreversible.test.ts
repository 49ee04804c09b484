import { expect, test } from 'bun:test'
import { irreversible } from '#load/session.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'

/** The accepted value of each reported height, in order, with `loaded` blocks in the store; and the log lines. */
async function heard(said: readonly number[], { has, loaded }: { has: number; loaded: number }) {
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
  for (const _ of said)
    believed.push(await final.read({ height: loaded, time: undefined }, new AbortController().signal))
  return { believed, lines }
}

test('irreversible: an absurd height is ignored and reported once', async () => {
  const { believed, lines } = await heard([100, 10 ** 15, 10 ** 15, 101, 102], { has: 200, loaded: 99 })
  expect(believed).toEqual([100, undefined, undefined, 101, 102])
  expect(lines).toEqual([
    'The node does not have the last irreversible block it reports; retrying. {"lib":1000000000000000,"head":4851,"loaded":99}',
  ])
})

test('irreversible: a decreasing height is accepted, and reported once each time', async () => {
  const { believed, lines } = await heard([100, 40, 41, 100, 30], { has: 200, loaded: 100 })
  expect(believed).toEqual([100, 40, 41, 100, 30])
  expect(lines.map(line => /\{.*/.exec(line)?.[0])).toEqual(['{"lib":40,"loaded":100}', '{"lib":30,"loaded":100}'])
})

test('irreversible: a height that stands still is reported after a minute, and again after it has advanced', async () => {
  const still = Array.from({ length: 700 }, () => 100)
  const { lines } = await heard([...still, 101, ...still.map(() => 101)], { has: 200, loaded: 100 })
  expect(lines).toEqual([
    'The node\'s last irreversible block does not advance. {"lib":100}',
    'The node\'s last irreversible block does not advance. {"lib":101}',
  ])
})

test('irreversible: a made-up far block is accepted no further than time allows', async () => {
  const START = 1_600_000_000
  const lines: string[] = []
  const lookAt = (said: number, loaded: { height: number; after?: number }, now: number) =>
    irreversible(
      {
        chainInfo: async () => spokenNode({}, { libBlock: said }).chainInfo(),
        blockHash: async height => `hash-${height}`,
      },
      (_, message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`),
      () => (START + now) * 1_000,
    ).read(
      {
        height: loaded.height,
        time: loaded.after === undefined ? undefined : BigInt(START + loaded.after) * 1_000_000_000n,
      },
      new AbortController().signal,
    )
  // At two blocks a second, an hour after block 100 there are at most 7,200 more.
  expect(await lookAt(10 ** 15, { height: 100, after: 0 }, 3_600)).toBe(100 + 7_200 + 1_000)
  expect(await lookAt(7_300, { height: 100, after: 0 }, 3_600)).toBe(7_300)
  // With an empty store there is no time to compare with until the first blocks are loaded.
  expect(await lookAt(10 ** 15, { height: -1 }, 0)).toBe(9_999)
  expect(lines).toEqual([
    'The node reports a last irreversible block that is too high for the age of the chain. {"lib":1000000000000000,"most":8300}',
    'The node reports a last irreversible block that is too high for the age of the chain. {"lib":1000000000000000,"most":9999}',
  ])
  // A clock that is behind the chain.
  expect(await lookAt(50_000, { height: 100, after: 60 }, 0)).toBe(50_000)
})
