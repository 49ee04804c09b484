import { expect, test } from 'bun:test'
import { createIrreversibleReader } from '#load/session.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'

const START = 1_600_000_000

/**
 * Reads reported heights of a node, above blocks up to `height`, `now` seconds after `START`. `after`: the time of the last
 * loaded block. The result has the accepted heights and the log.
 */
function watching() {
  const lines: string[] = []
  const node = { said: 0, now: 0 }
  const final = createIrreversibleReader(
    {
      chainInfo: async () => spokenNode({}, { libBlock: node.said }).chainInfo(),
      blockHash: async height => `hash-${height}`,
    },
    (_, message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`),
    () => (START + node.now) * 1_000,
  )
  const lookAt = (said: number, now: number, { height = 100, after = undefined as number | undefined } = {}) => {
    Object.assign(node, { said, now })
    const time = after === undefined ? undefined : BigInt(START + after) * 1_000_000_000n
    return final(height, time, new AbortController().signal)
  }
  return { lookAt, lines }
}

test('createIrreversibleReader: a height that stands still is reported after a minute, and again after it has advanced', async () => {
  const { lookAt, lines } = watching()
  for (let look = 0; look < 1_400; look += 1) await lookAt(look < 700 ? 100 : 101, 0)
  expect(lines).toEqual([
    'The node\'s last irreversible block does not advance. {"lib":100}',
    'The node\'s last irreversible block does not advance. {"lib":101}',
  ])
})

test('createIrreversibleReader: a made-up far block is accepted no further than time allows', async () => {
  const looks = [
    // At two blocks a second, an hour after block 100 there are at most 7,200 more.
    [10 ** 15, 3_600, { after: 0 }, 100 + 7_200 + 1_000],
    [7_300, 3_600, { after: 0 }, 7_300],
    // With an empty store there is no time to compare with until the first blocks are loaded.
    [10 ** 15, 0, { height: -1 }, 9_999],
    // A clock that is behind the chain.
    [50_000, 0, { after: 60 }, 50_000],
  ] as const
  const lines: string[] = []
  for (const [said, now, loaded, accepted] of looks) {
    const own = watching()
    expect(await own.lookAt(said, now, loaded)).toBe(accepted)
    lines.push(...own.lines)
  }
  const warning = 'The node reports a last irreversible block that is too high for the age of the chain.'
  expect(lines).toEqual([8_300, 9_999].map(most => `${warning} {"lib":1000000000000000,"most":${most}}`))
})
