/** The stored record of an API key; the key itself is never stored. */
export type StoredKey = {
  /** Public handle: `list` shows it, `revoke` takes it. */
  readonly id: string
  /** SHA-256 of the key, hexadecimal. */
  readonly hash: string
  readonly name: string
  /** What the operator wants to remember about it: one line. */
  readonly note?: string
  readonly perSecond: number
  readonly perDay: number
  /** Milliseconds since 1970. */
  readonly created: number
  readonly expires?: number
  readonly revoked?: number
}

/** A key but for what identifies it. */
export type KeyTerms = Omit<StoredKey, 'id' | 'hash' | 'created'>

export type KeyStore = {
  /** Throws 'conflict' when the id exists. */
  add(key: StoredKey): Promise<void>
  /** All keys, by time of creation, then id. */
  list(signal?: AbortSignal): Promise<readonly StoredKey[]>
  /**
   * Stores what `terms` makes of a key's terms, compared and set: `terms` may be called again with newer ones. false: no
   * such id.
   */
  change(id: string, terms: (now: KeyTerms) => KeyTerms): Promise<boolean>
  /** Marks as revoked now; false: no such id. Revoking twice keeps the first time. */
  revoke(id: string, now: number): Promise<boolean>
}

/** What revoking makes of a key's terms. */
export const revokedAt =
  (now: number) =>
  (terms: KeyTerms): KeyTerms => ({ ...terms, revoked: terms.revoked ?? now })

/**
 * Name and note as one text: the note stands behind a line end, which no name contains. So stores that earlier versions
 * made keep their shape.
 */
export const nameWithNote = ({ name, note }: Pick<StoredKey, 'name' | 'note'>): string =>
  note === undefined ? name : `${name}\n${note}`

/** The name and the note in such a text. */
export const nameAndNoteIn = (text: string): Pick<StoredKey, 'name' | 'note'> => {
  const end = text.indexOf('\n')
  return end < 0 ? { name: text } : { name: text.slice(0, end), note: text.slice(end + 1) }
}

/** Requests of a key on a UTC day (days since 1970), and when the last of them was, milliseconds since 1970. */
export type DayOfKey = {
  readonly day: number
  readonly key: string
  readonly requests: number
  readonly last: number
}

/** Days that counts are kept for. */
export const USAGE_DAYS = 400

/** Requests per key and UTC day, counted by all processes that share the store. Calls throw 'unavailable'. */
export type Usage = {
  /**
   * Adds to the counts of a day (days since 1970) what was asked until `at`, and gives all of that day, by key. When it
   * throws, nothing was added: the same may be added with the next call.
   */
  add(day: number, counts: ReadonlyMap<string, number>, at: number): Promise<ReadonlyMap<string, number>>
  /** All that is kept, from a day on, in no order; each key and day once. */
  since(day: number): Promise<readonly DayOfKey[]>
  close(): Promise<void>
}
