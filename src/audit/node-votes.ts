import { toUnits } from '#chain/amount.ts'
import { parseJson } from '#chain/json.ts'
import { memberSpans } from '#chain/json-text.ts'
import { Failure } from '#failure/failure.ts'
import { voteId, votes } from '#indices/vote.ts'
import type { StoredDocument } from '#store/port.ts'
import { compareCount } from './node-count.ts'
import { type NodeSides, reportDifference, storageRows } from './storage-rows.ts'

const VOTE = 'vote.iost'
/**
 * Rows of votes for producers, the first vote of vote.iost (made in genesis): `u_1-<voter>` → {producer:
 * [votes, …]}.
 */
const PRODUCERS = 'u_1-'
const DECIMALS = 8

/** Compares every vote for a producer with the node's, and checks that no others are stored. */
export async function compareVotes(sides: NodeSides): Promise<void> {
  let positive = 0
  for await (const page of storageRows(sides, VOTE, PRODUCERS)) {
    const rows = page.flatMap(([voter, value]) =>
      parseNodeVotes(value).map(([producer, units]) => [voteId(producer, voter), units] as const),
    )
    const ids = rows.map(([id]) => id)
    const docs = await sides.stored.getMany(votes, ids)
    for (const [at, [id, units]] of rows.entries()) {
      if (units > 0n) positive += 1
      const stored = docs[at]?.votes
      if ((stored ?? 0n) !== units)
        reportDifference(sides, votes, {
          id,
          field: 'votes',
          stored: stored?.toString(),
          expected: String(units),
        })
    }
    sides.onProgress(rows.length)
  }
  const counts = ({ doc }: StoredDocument<typeof votes>) => doc !== undefined && doc.votes > 0n
  await compareCount(sides, { index: votes, id: 'above zero', counts }, positive)
}

/** Producers may be named `12345` or `__proto__`, so the keys are read from the text, not from an object. */
const parseNodeVotes = (value: string): readonly (readonly [producer: string, units: bigint])[] =>
  [...memberSpans(value)].map(([producer, [from, to]]) => {
    const [amount] = parseJson(value.slice(from, to)) as readonly unknown[]
    if (typeof amount !== 'string')
      throw new Failure('bad_block', `The node stores votes for ${producer} that are not a string.`)
    return [producer, toUnits(amount, DECIMALS)] as const
  })
