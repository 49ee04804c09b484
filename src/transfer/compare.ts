import { Failure } from '#failure/failure.ts'
import { type Digest, STARTS } from './digest.ts'
import { sumOfSums } from './sum.ts'

/**
 * Throws 'damaged', naming the index, unless all digests are the same. `what` names the store or file with
 * the digests `found`; the message begins with it.
 */
export function requireSameDigests(what: string, found: readonly Digest[], expected: readonly Digest[]): void {
  const differing = listDigestDifferences(found, expected)
  const [first] = differing
  if (first === undefined) return
  const { name, has, wanted } = first
  const more = differing.length === 1 ? '' : `; ${differing.length - 1} more indices differ`
  throw new Failure('damaged', `${what}: ${name} ${formatDigestDifference(has, wanted)}${more}.`, {
    help: 'Take another copy. Or load the chain anew from a node or an archive.',
    details: { index: name },
  })
}

type Differing = {
  readonly name: string
  readonly has: Digest | undefined
  readonly wanted: Digest | undefined
}

const formatDigestName = ({ index, partition }: Digest): string =>
  partition === undefined ? index : `${index} (partition ${partition})`

function listDigestDifferences(found: readonly Digest[], expected: readonly Digest[]): readonly Differing[] {
  const [has, wanted] = [found, expected].map(digests => new Map(digests.map(each => [formatDigestName(each), each])))
  return [...new Set([...(wanted?.keys() ?? []), ...(has?.keys() ?? [])])].flatMap(name => {
    const [one, other] = [has?.get(name), wanted?.get(name)]
    const isSame = one?.documents === other?.documents && one?.sum === other?.sum
    return isSame ? [] : [{ name, has: one, wanted: other }]
  })
}

const formatDigestDifference = (has: Digest | undefined, wanted: Digest | undefined): string =>
  has?.documents !== wanted?.documents
    ? `has ${has?.documents ?? 0} documents, expected ${wanted?.documents ?? 0}`
    : `has the digest ${has?.sum}, expected ${wanted?.sum}`

/** Digests of whole indices, without the entries that depend on partitions: equal in all stores of the same blocks. */
export function regardlessOfPartitions(digests: readonly Digest[]): readonly Digest[] {
  const byIndex = Map.groupBy(
    digests.filter(({ index }) => index !== STARTS),
    ({ index }) => index,
  )
  return [...byIndex].map(([index, parts]) => ({ index, ...sumOfSums(parts) }))
}
