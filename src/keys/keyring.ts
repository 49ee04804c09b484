import { Failure } from '#failure/failure.ts'
import type { KeyStore, StoredKey } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { hashOfKey, KEY_MAX_LENGTH } from './key.ts'
import { keyLists } from './key-list.ts'
import type { Plan } from './plan.ts'

/** A key not in the list may have just been added: the list is read again when it is older than this. */
const UNKNOWN_REFRESH_MS = 100

/** Id of the shared test key's caller; a stored key's id is ten hexadecimal digits. */
export const TEST_KEY_ID = 'test'

/** Who asks, and how much that one may ask. */
export type Caller = { readonly id: string; readonly plan: Plan }

export type Keyring = {
  /** Throws 'unauthorized' (no such key), 'forbidden' (revoked or expired), 'unavailable' (keys cannot be read). */
  check(key: string, looking?: Looking): Promise<Caller>
  /** The same without waiting; undefined where the list would have to be read, or `check` might refuse the key. */
  known(key: string): Caller | undefined
  /**
   * Why the keys with some hashes (`hashOfKey`) are refused now, undefined for those that are good: for what goes on after
   * the check. undefined: that cannot be said, because the list of keys was not read lately.
   */
  standing(): ((hash: string) => Failure | undefined) | undefined
  /** As `check`, with what its owner may know of the key. */
  describe(key: string, looking?: Looking): Promise<Described>
}

/** `hasty`: the list is not read again for a key that is not in it. */
export type Looking = 'careful' | 'hasty'

/** `expires` in milliseconds since 1970; absent: never. */
export type Described = { readonly caller: Caller; readonly name: string; readonly expires?: number }

export type KeyringOptions = {
  readonly store: Pick<KeyStore, 'list'>
  readonly clock: Clock
  /** The shared test key; absent: there is none. */
  readonly testKey?: { readonly key: string; readonly plan: Plan }
}

/**
 * Decides whether a key is valid. Keys are looked up by the hash of their text, so the time of a look-up reveals
 * nothing about any stored key. A revoked key is refused within two seconds, even if reads of the list fail.
 */
export const keyring = ({ store, clock, testKey }: KeyringOptions): Keyring => {
  const testHash = testKey === undefined ? undefined : hashOfKey(testKey.key)
  const lists = keyLists(store, clock)
  const find = async (hash: string, looking: Looking): Promise<StoredKey> => {
    const known = (await lists.get()).keys.get(hash)
    const again = known === undefined && looking === 'careful'
    const stored = again ? (await lists.get(UNKNOWN_REFRESH_MS)).keys.get(hash) : known
    if (stored === undefined) throw unknownKey()
    const refusal = refusalOf(stored, clock.now())
    if (refusal !== undefined) throw refusal
    return stored
  }
  const describe = async (key: string, looking: Looking = 'careful'): Promise<Described> => {
    if (key.length > KEY_MAX_LENGTH) throw unknownKey()
    const hash = hashOfKey(key)
    if (testKey !== undefined && hash === testHash)
      return { caller: { id: TEST_KEY_ID, plan: testKey.plan }, name: TEST_KEY_ID }
    const stored = await find(hash, looking)
    const { name, expires } = stored
    return { caller: callerOf(stored), name, ...(expires === undefined ? {} : { expires }) }
  }
  return {
    check: async (key, looking) => (await describe(key, looking)).caller,
    describe,
    standing: () => {
      const list = lists.believed()
      if (list === undefined) return undefined
      return hash => {
        if (hash === testHash) return undefined
        const stored = list.keys.get(hash)
        return stored === undefined ? unknownKey() : refusalOf(stored, clock.now())
      }
    },
    known: key => {
      if (key.length > KEY_MAX_LENGTH) return undefined
      const hash = hashOfKey(key)
      if (testKey !== undefined && hash === testHash) return { id: TEST_KEY_ID, plan: testKey.plan }
      const stored = lists.fresh()?.keys.get(hash)
      return stored === undefined || refusalOf(stored, clock.now()) !== undefined
        ? undefined
        : callerOf(stored)
    },
  }
}

const callerOf = ({ id, perSecond, perDay }: StoredKey): Caller => ({ id, plan: { perSecond, perDay } })

const refusalOf = ({ revoked, expires }: StoredKey, now: number): Failure | undefined => {
  if (revoked !== undefined)
    return new Failure('forbidden', 'This API key is revoked.', { zh: '此 API key 已被吊销。' })
  if (expires === undefined || expires > now) return undefined
  const day = new Date(expires).toISOString()
  return new Failure('forbidden', `This API key expired on ${day}.`, { zh: `此 API key 已于 ${day} 过期。` })
}

const unknownKey = (): Failure =>
  new Failure('unauthorized', 'This API key is unknown.', { zh: '此 API key 不存在。' })
