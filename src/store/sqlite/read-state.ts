import { type BoundedCache, boundedCache } from '#store/bounded-cache.ts'
import type { Published } from '#store/port.ts'
import type { Connection } from './connection.ts'
import { getPublished, isMending } from './meta.ts'

/** What a connection has read of one version of the file. */
export type ReadState = {
  readonly at: Published
  readonly isMending: boolean
  /** State documents by index and id; undefined: there is none with that id. */
  readonly docs: BoundedCache<object | undefined>
}

/** Maximum characters of documents that one connection keeps; 500,000 take at most some 2 MB. */
const MAX_CHARACTERS = 500_000

/**
 * Keeps what a connection has read for as long as nobody commits to the file. SQLite itself says when somebody has: its
 * `data_version` differs from that of an earlier transaction exactly if another connection committed meanwhile
 * (sqlite.org/pragma.html#pragma_data_version).
 */
export const readStates = () => {
  const known = new WeakMap<Connection, { readonly version: unknown; readonly state: ReadState }>()
  return {
    /** The state of the transaction that the connection is in; undefined: nothing is published. */
    of: (connection: Connection): ReadState | undefined => {
      const version = connection.row('PRAGMA data_version')?.[0]
      const found = known.get(connection)
      if (found !== undefined && found.version === version) return found.state
      const at = getPublished(connection)
      if (at === undefined) return undefined
      const state = {
        at,
        isMending: isMending(connection),
        docs: boundedCache<object | undefined>(MAX_CHARACTERS),
      }
      known.set(connection, { version, state })
      return state
    },
  }
}
