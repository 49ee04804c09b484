import { type BulkItem, ONE_REQUEST_BYTES } from '../client/bulk-item.ts'

/**
 * Puts the last item of each index behind all others of that index. `first` ends with them if one request holds
 * everything: Elasticsearch carries out the items of an index in order, on each copy. Otherwise `last` gives them, to be
 * sent when `first` is acknowledged. Either way a copy that shows the last document of an index has the others: one that
 * missed an acknowledged write is out of the set that later writes go to.
 */
export const inOrder = (items: Iterable<BulkItem>) => {
  const held = new Map<string, BulkItem>()
  const first = function* (): Generator<BulkItem, void, void> {
    let bytes = 0
    for (const item of items) {
      const before = held.get(item.index)
      if (before !== undefined) yield before
      held.set(item.index, item)
      bytes += item.bytes
    }
    if (bytes > ONE_REQUEST_BYTES) return
    yield* held.values()
    held.clear()
  }
  return { first: first(), last: (): readonly BulkItem[] => [...held.values()] }
}
