import { type Place, placeOf } from './place.ts'

/** The rows of a list that a block has, as JSON. */
export type BlockLines = { readonly height: number; readonly hash: string; readonly lines: readonly string[] }

/** What one look found of the blocks above for a list. */
export type Above = {
  /** The published height. */
  readonly height: number
  /** The hash of a block that was published since the look before. */
  readonly storedHash: (height: number) => string | undefined
  /** Blocks with rows that were above when the branch was known last, and above the height of the look before. */
  readonly held: readonly BlockLines[]
  /** Those above now, of one branch that stands on the published block; undefined: the branch is not known. */
  readonly now: readonly BlockLines[] | undefined
}

/** What a reader at some place is to be told. */
export type Settled = {
  /** The lowest block whose rows are gone, those of higher ones with them; undefined: none is. */
  readonly droppedFrom: number | undefined
  /** What the reader has then. */
  readonly kept: Place | undefined
  /** The rows that it lacks, each with its place; they come behind the irreversible ones. */
  readonly packed: readonly { readonly line: string; readonly place: Place }[]
  /** What the reader has in the end. */
  readonly place: Place | undefined
}

/**
 * Brings a reader to the branch of now. A block is gone when another one is irreversible at its height, or when the branch
 * is known and does not have it. While the branch is not known, nothing comes and nothing else goes.
 */
export const settle = (place: Place | undefined, above: Above): Settled => {
  const { droppedFrom, kept } = place === undefined ? NOTHING : stillThere(place, above)
  const standing = kept !== undefined && kept.height > above.height ? kept : undefined
  const packed = packedAfter(standing, above.now ?? [])
  return { droppedFrom, kept, packed, place: packed.at(-1)?.place ?? standing }
}

const NOTHING = { droppedFrom: undefined, kept: undefined }

const stillThere = (place: Place, above: Above): Pick<Settled, 'droppedFrom' | 'kept'> => {
  const { held } = above
  const index = held.findIndex(({ hash }) => hash === place.hash)
  const below = held.slice(0, Math.max(0, index))
  const line = [...below.map(({ lines, ...block }) => ({ ...block, rows: lines.length })), place]
  const gone = line.findIndex(each => isGone(each, above))
  if (gone < 0) return { droppedFrom: undefined, kept: place }
  const last = line[gone - 1]
  return {
    // Without the blocks below it nobody knows which of them are there still: all rows come again.
    droppedFrom: index < 0 ? place.base : line[gone]?.height,
    kept: last === undefined ? undefined : placeOf({ ...last, base: place.base }),
  }
}

const isGone = (
  { height, hash, rows }: Pick<Place, 'height' | 'hash' | 'rows'>,
  { height: published, storedHash, now }: Above,
): boolean =>
  height <= published
    ? storedHash(height) !== hash
    : now !== undefined && !now.some(block => block.hash === hash && block.lines.length >= rows)

const packedAfter = (place: Place | undefined, now: readonly BlockLines[]): Settled['packed'] => {
  const index = place === undefined ? -1 : now.findIndex(({ hash }) => hash === place.hash)
  const base = place?.base ?? now[0]?.height ?? 0
  return now.slice(Math.max(0, index)).flatMap(({ height, hash, lines }, at) => {
    const had = at === 0 && index >= 0 ? (place?.rows ?? 0) : 0
    return lines.slice(had).map((line, more) => ({
      line,
      place: placeOf({ base, height, hash, rows: had + more + 1 }),
    }))
  })
}
