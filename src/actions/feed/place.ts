/** How far a reader has rows of blocks that are not irreversible yet. */
export type Place = {
  /** The lowest block of which it may have such rows. */
  readonly base: number
  /** The highest block of which it has rows, and how many of its rows. */
  readonly height: number
  readonly hash: string
  readonly rows: number
  /** The end of an id that says so. */
  readonly text: string
}

export const placeOf = ({ base, height, hash, rows }: Omit<Place, 'text'>): Place => ({
  base,
  height,
  hash,
  rows,
  text: `-${base}-${height}-${rows}-${hash}`,
})

/** The id of an event: what its reader has then. `seq`: its last irreversible row. */
export const idOf = (seq: number, place: Place | undefined): string => `${seq}${place?.text ?? ''}`

/** An id as a client gives it back. */
export type LastId = { readonly seq: bigint; readonly place: Place | undefined }

const NUMBER = '(0|[1-9][0-9]{0,14})'
/** What an id looks like. */
export const ID_PATTERN = `^${NUMBER}(?:-${NUMBER}-${NUMBER}-${NUMBER}-([1-9A-HJ-NP-Za-km-z]{1,64}))?$`
const ID = new RegExp(ID_PATTERN)

/** undefined: it is no id of ours. */
export const readId = (text: string): LastId | undefined => {
  const [, seq, base, height, rows, hash] = ID.exec(text) ?? []
  if (seq === undefined) return undefined
  const place =
    hash === undefined
      ? undefined
      : placeOf({ base: Number(base), height: Number(height), hash, rows: Number(rows) })
  return { seq: BigInt(seq), place }
}
