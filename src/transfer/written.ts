import type { WritePosition } from '#store/snapshots-port.ts'
import { type Digest, STARTS } from './digest.ts'
import { KEYS } from './keys-digest.ts'

const formatDigestKey = ({ index, partition }: Pick<Digest, 'index' | 'partition'>): string =>
  `${index} ${partition ?? ''}`

/** Adds to digests the number of the last operation of each index. */
export function withOperations(digests: readonly Digest[], written: readonly WritePosition[]): readonly Digest[] {
  const operations = new Map(written.map(each => [formatDigestKey(each), each.operation]))
  return digests.map(digest => {
    const operation = operations.get(formatDigestKey(digest))
    return operation === undefined ? digest : { ...digest, operation }
  })
}

/** Whether two readings of a store, one after the other, show that nothing was written in between. */
export function isUntouched(before: readonly WritePosition[], after: readonly WritePosition[]): boolean {
  const operations = new Map(after.map(each => [formatDigestKey(each), each.operation]))
  return (
    before.length === after.length && before.every(each => operations.get(formatDigestKey(each)) === each.operation)
  )
}

/** Whether each index still has the last operation and the number of documents recorded with its digest. */
export function isAsDigested(digests: readonly Digest[], written: readonly WritePosition[]): boolean {
  const described = digests.filter(({ index }) => index !== STARTS && index !== KEYS)
  const found = new Map(written.map(each => [formatDigestKey(each), each]))
  return (
    described.length === written.length &&
    described.every(digest => {
      const { operation, documents } = found.get(formatDigestKey(digest)) ?? {}
      return operation !== undefined && operation === digest.operation && documents === digest.documents
    })
  )
}
