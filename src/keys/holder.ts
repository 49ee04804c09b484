import { Failure } from '#failure/failure.ts'
import type { StoredKey } from '#store/port.ts'

/**
 * The holder of a key: its id, counts and plan stay when the key is replaced. The stored record of the first
 * key has the holder's id, later ones `ID.2`, `ID.3` and so on, so stores need no notion of holders.
 */
export type Holder = {
  readonly id: string
  /** The newest key. */
  readonly current: StoredKey
  /** The earlier keys, newest first; they work until they expire. */
  readonly former: readonly StoredKey[]
  /** Creation time of the first key, milliseconds since 1970. */
  readonly created: number
  /** Set when any of the keys is revoked. */
  readonly revoked?: number
}

/** The id of the holder of a stored key. */
export const parseHolderId = (stored: string): string => stored.split('.', 1)[0] ?? stored
/** The first key of a holder has number 1. */
export const parseKeyNumber = (stored: string): number => Number(stored.split('.')[1] ?? 1)

/** The holders of stored keys, in the order of their first keys. */
export const groupHolders = (keys: readonly StoredKey[]): readonly Holder[] =>
  [...Map.groupBy(keys, ({ id }) => parseHolderId(id))].map(([id, own]) => {
    const [current, ...former] = own.toSorted((one, two) => parseKeyNumber(two.id) - parseKeyNumber(one.id))
    if (current === undefined) throw new Failure('defect', `The holder ${id} has no key.`)
    const revoked = own.flatMap(key => key.revoked ?? []).sort((one, two) => one - two)[0]
    const created = Math.min(...own.map(key => key.created))
    return { id, current, former, created, ...(revoked === undefined ? {} : { revoked }) }
  })

/**
 * Keys by their hash, each with the holder's id and plan. A revoked holder has no valid key, even if another
 * key was stored at the same moment.
 */
export const keysByHash = (keys: readonly StoredKey[]): ReadonlyMap<string, StoredKey> =>
  new Map(
    groupHolders(keys).flatMap(({ id, current, former, revoked }) => {
      const { name, perSecond, perDay } = current
      const common = { id, name, perSecond, perDay, ...(revoked === undefined ? {} : { revoked }) }
      return [current, ...former].map(key => [key.hash, { ...key, ...common }] as const)
    }),
  )
