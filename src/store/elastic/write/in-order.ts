import { type BulkItem, ONE_REQUEST_BYTES } from '../client/bulk-item.ts'

/**
 * Moves the last item of each index behind all others of that index. If all items fit one request, `first` ends with
 * the last items: Elasticsearch carries out the items of an index in order, on each copy. Otherwise `last` returns
 * them, to be sent after `first` is acknowledged. Either way, a copy that shows the last document of an index has the
 * others, because a copy that missed an acknowledged write is removed from the set that gets later writes.
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
