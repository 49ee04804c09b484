import { Failure } from '#failure/failure.ts'
import type { StateIndex } from '#indices/registry.ts'
import { type Segment, type SegmentsDoc, segmentAt, segmentsId } from '#indices/segment.ts'
import { beginOf, type Standing } from '#indices/standing.ts'

/** Roots seen last: the leaf they lead to is asked for along with the root, and is right unless much moved meanwhile. */
export type Hints = Map<string, readonly Segment[]>
/** Rankings whose roots are remembered: some KB each. */
const MOST_HINTS = 200

/** Documents of `segments` by their ids, of the view's height. */
export type ReadSegments = (ids: readonly string[]) => Promise<readonly (SegmentsDoc | undefined)[]>

/**
 * Where the member at `offset` of a group stands: right after a standing (undefined: the top) and `skip` members. Both
 * documents are of the view's height, or `Newer` is thrown. undefined: the group has no such member.
 */
export const beginning = async (
  { segments: read, hints }: { readonly segments: ReadSegments; readonly hints: Hints },
  index: StateIndex,
  group = '',
  offset: number,
): Promise<{ readonly after?: Standing | undefined; readonly skip: number } | undefined> => {
  const idOf = (leaf: number): string => segmentsId(index.name, leaf, group)
  const guessed = segmentAt(hints.get(idOf(0)) ?? [], offset)?.segment[3]
  const [root, guess] = await read([idOf(0), ...(guessed === undefined ? [] : [idOf(guessed)])])
  if (root === undefined || root.segments.length === 0) return { skip: offset }
  remember(hints, idOf(0), root.segments)
  const inRoot = segmentAt(root.segments, offset)
  if (inRoot === undefined) return undefined
  const leaf = inRoot.segment[3] ?? 0
  const doc = leaf === guessed ? guess : (await read([idOf(leaf)]))[0]
  const found = segmentAt(doc?.segments ?? [], inRoot.skip)
  if (found === undefined)
    throw new Failure('defect', `Segments of ${index.name} ${group} do not add up: the store is damaged.`)
  return { after: beginOf(found.segment), skip: found.skip }
}

const remember = (hints: Hints, id: string, root: readonly Segment[]): void => {
  hints.delete(id)
  hints.set(id, root)
  const [oldest] = hints.keys()
  if (hints.size > MOST_HINTS && oldest !== undefined) hints.delete(oldest)
}
