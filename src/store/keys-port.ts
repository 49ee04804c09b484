/** The stored record of an API key; the key itself is never stored. */
export type StoredKey = {
  /** Public handle: `list` shows it, `revoke` takes it. */
  readonly id: string
  /** SHA-256 of the key, hexadecimal. */
  readonly hash: string
  readonly name: string
  readonly perSecond: number
  readonly perDay: number
  /** Milliseconds since 1970. */
  readonly created: number
  readonly expires?: number
  readonly revoked?: number
}

export type KeyStore = {
  /** Throws 'conflict' when the id exists. */
  add(key: StoredKey): Promise<void>
  /** All keys, by time of creation, then id. */
  list(signal?: AbortSignal): Promise<readonly StoredKey[]>
  /** Marks as revoked now; false: no such id. Revoking twice keeps the first time. */
  revoke(id: string, now: number): Promise<boolean>
}

/** Requests per key in a UTC day, counted by all processes that share the file. */
export type Usage = {
  /** Adds to the counts of a day (days since 1970) and gives all of that day, by key. Throws 'unavailable'. */
  add(day: number, counts: ReadonlyMap<string, number>): ReadonlyMap<string, number>
  close(): void
}
