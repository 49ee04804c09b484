/** The stored record of an API key; the key itself is never stored. */
export type StoredKey = {
  /** Public id of the key, as in the output of `list` and the argument of `revoke`. */
  readonly id: string
  /** SHA-256 of the key, hexadecimal. */
  readonly hash: string
  readonly name: string
  /** A note of the operator: one line. */
  readonly note?: string
  readonly perSecond: number
  readonly perDay: number
  /** Milliseconds since 1970. */
  readonly created: number
  readonly expires?: number
  readonly revoked?: number
}

export type KeyTerms = Omit<StoredKey, 'id' | 'hash' | 'created'>

/** Some of the keys, each with its present terms. */
export type KeyPage = {
  readonly keys: readonly StoredKey[]
  /** Whether these are the first of all keys; those of earlier calls are obsolete. */
  readonly isStart: boolean
  /** Whether no more keys follow: with those of earlier calls, these are all keys at the time of the call. */
  readonly isEnd: boolean
  /** For the next call; absent: there was no key. */
  readonly mark: string | undefined
}

export type KeyStore = {
  /** Throws 'conflict' when an id exists; a store of one file then adds none of the keys. */
  add(...keys: readonly StoredKey[]): Promise<void>
  /** All keys, by time of creation, then id. */
  list(signal?: AbortSignal): Promise<readonly StoredKey[]>
  /** The keys that can be read, even if the store is damaged, and whether these are all. Throws 'not_found' without a store. */
  salvage(): Promise<{ readonly keys: readonly StoredKey[]; readonly isWhole: boolean }>
  /**
   * The keys that were written since an earlier call returned the mark `since`, a bounded number of them. Without a mark,
   * or with one that is too old, the keys are read from the first on.
   */
  read(since?: string, signal?: AbortSignal): Promise<KeyPage>
  /**
   * Replaces a key's terms by `terms(current)` with compare-and-set: after a conflict `terms` is called again
   * with newer terms. false: no such id.
   */
  change(id: string, terms: (now: KeyTerms) => KeyTerms): Promise<boolean>
  /** Marks the key as revoked at `now`; false: no such id. A second call keeps the first time. */
  revoke(id: string, now: number): Promise<boolean>
}

export const createRevocation =
  (now: number) =>
  (terms: KeyTerms): KeyTerms => ({ ...terms, revoked: terms.revoked ?? now })

/**
 * Name and note as one text, separated by a newline, which no name contains. Stores that earlier versions
 * made thus keep their layout.
 */
export const nameWithNote = ({ name, note }: Pick<StoredKey, 'name' | 'note'>): string =>
  note === undefined ? name : `${name}\n${note}`

export function parseNameAndNote(text: string): Pick<StoredKey, 'name' | 'note'> {
  const end = text.indexOf('\n')
  return end < 0 ? { name: text } : { name: text.slice(0, end), note: text.slice(end + 1) }
}

/** Requests of a key on a UTC day (days since 1970), and the time of the last one, in milliseconds since 1970. */
export type KeyDay = {
  readonly day: number
  readonly key: string
  readonly requests: number
  readonly last: number
}

/** Number of days that counts are kept. */
export const USAGE_DAYS = 400

/** Requests per key and UTC day, counted by all processes that share the store. Calls throw 'unavailable'. */
export type Usage = {
  /**
   * Adds the requests made until `at` to the counts of a day (days since 1970), and returns all counts of
   * that day, by key. After an error nothing was added, and the same counts may be added with the next call.
   */
  add(day: number, counts: ReadonlyMap<string, number>, at: number): Promise<ReadonlyMap<string, number>>
  /** All stored counts from a day on, unordered; each key and day once. */
  since(day: number): Promise<readonly KeyDay[]>
  close(): Promise<void>
}
