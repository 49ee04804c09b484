import type { Written } from '#store/snapshots-port.ts'
import { type Digest, STARTS } from './digest.ts'
import { KEYS } from './keys-digest.ts'

const keyOf = ({ index, partition }: Pick<Digest, 'index' | 'partition'>): string =>
  `${index} ${partition ?? ''}`

/** Digests with the last operation of each index. */
export const withOperations = (
  digests: readonly Digest[],
  written: readonly Written[],
): readonly Digest[] => {
  const operations = new Map(written.map(each => [keyOf(each), each.operation]))
  return digests.map(digest => {
    const operation = operations.get(keyOf(digest))
    return operation === undefined ? digest : { ...digest, operation }
  })
}

/** Whether two looks at a store, one after the other, show that nobody wrote between them. */
export const isUntouched = (before: readonly Written[], after: readonly Written[]): boolean => {
  const operations = new Map(after.map(each => [keyOf(each), each.operation]))
  return (
    before.length === after.length && before.every(each => operations.get(keyOf(each)) === each.operation)
  )
}

/** Whether each index has the last operation that it had when the digests were taken, and as many documents. */
export const isAsDigested = (digests: readonly Digest[], written: readonly Written[]): boolean => {
  const described = digests.filter(({ index }) => index !== STARTS && index !== KEYS)
  const found = new Map(written.map(each => [keyOf(each), each]))
  return (
    described.length === written.length &&
    described.every(digest => {
      const { operation, documents } = found.get(keyOf(digest)) ?? {}
      return operation !== undefined && operation === digest.operation && documents === digest.documents
    })
  )
}
