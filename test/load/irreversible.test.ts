import { expect, test } from 'bun:test'
import { irreversible } from '#load/session.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'

/** The log lines about reported heights of a node that has 200 blocks, of which 100 are loaded. */
async function linesOf(said: readonly number[]) {
  const lines: string[] = []
  let at = 0
  const final = irreversible(
    {
      chainInfo: async () => spokenNode({}, { libBlock: said[at++] ?? 0 }).chainInfo(),
      blockHash: async height => `hash-${height}`,
    },
    (_, message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`),
  )
  for (const _ of said) await final(100, undefined, new AbortController().signal)
  return lines
}

test('irreversible: a height that stands still is reported after a minute, and again after it has advanced', async () => {
  const still = Array.from({ length: 700 }, () => 100)
  expect(await linesOf([...still, 101, ...still.map(() => 101)])).toEqual([
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
    )(
      loaded.height,
      loaded.after === undefined ? undefined : BigInt(START + loaded.after) * 1_000_000_000n,
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
