import { hash as digest } from 'node:crypto'
import { Failure } from '#failure/failure.ts'
import type { StoredKey } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { type KeyReader, watchKeys } from './known-keys.ts'
import type { Plan } from './plan.ts'

/** An unknown key may have just been added: the list is brought up to date if it is older than this. */
const UNKNOWN_REFRESH_MS = 100
/** Longest text that is accepted as a key; a shared test key is any text up to this length. */
export const KEY_MAX_LENGTH = 100

/** SHA-256 of a key's text in hexadecimal: the only form of a key that is stored. */
export const hashOfKey = (key: string): string => digest('sha256', key, 'hex')

/** Id of the shared test key's caller; a stored key's id is ten hexadecimal digits. */
export const TEST_KEY_ID = 'test'

/** The holder of a key and its limits. `expires` in milliseconds since 1970; absent: never. */
export type Caller = {
  readonly id: string
  readonly plan: Plan
  readonly name: string
  readonly expires?: number
}

export type Keyring = {
  /** Throws 'unauthorized' (unknown key), 'forbidden' (revoked or expired), 'unavailable' (keys cannot be read). */
  check(key: string, looking?: Lookup): Promise<Caller>
  /** Checks a key without waiting; undefined when the list would have to be read, or `check` might refuse the key. */
  checkCached(key: string): Caller | undefined
  /**
   * For feeds, which go on after the check. The function takes the hash of a key (`hashOfKey`) and returns
   * the reason for which the key is refused now, or undefined for a valid one. `refusalCheck` returns undefined
   * when the list of keys was not read lately.
   */
  refusalCheck(): ((hash: string) => Failure | undefined) | undefined
}

/** With `hasty`, an unknown key does not cause a read. */
type Lookup = 'careful' | 'hasty'

export type KeyringOptions = {
  readonly store: KeyReader
  readonly clock: Clock
  /** The shared test key, if there is one. */
  readonly testKey?: { readonly key: string; readonly plan: Plan }
}

/**
 * Checks API keys. Keys are looked up by their hash, so the duration of a look-up reveals nothing about
 * stored keys. A revoked key is refused within two seconds, even if reads of the list fail.
 */
export function keyring({ store, clock, testKey }: KeyringOptions): Keyring {
  const testHash = testKey === undefined ? undefined : hashOfKey(testKey.key)
  const testCaller = testKey === undefined ? undefined : { id: TEST_KEY_ID, name: TEST_KEY_ID, plan: testKey.plan }
  const lists = watchKeys(store, clock)
  return {
    check: async (key, looking = 'careful') => {
      if (key.length > KEY_MAX_LENGTH) throw unknownKey()
      const hash = hashOfKey(key)
      if (testCaller !== undefined && hash === testHash) return testCaller
      const known = (await lists.get()).keys.get(hash)
      const again = known === undefined && looking === 'careful'
      const stored = again ? (await lists.get(UNKNOWN_REFRESH_MS)).keys.get(hash) : known
      if (stored === undefined) throw unknownKey()
      const refusal = findKeyRefusal(stored, clock.now())
      if (refusal !== undefined) throw refusal
      return toCaller(stored)
    },
    refusalCheck: () => {
      const list = lists.believed()
      if (list === undefined) return undefined
      return hash => {
        if (hash === testHash) return undefined
        const stored = list.keys.get(hash)
        return stored === undefined ? unknownKey() : findKeyRefusal(stored, clock.now())
      }
    },
    checkCached: key => {
      if (key.length > KEY_MAX_LENGTH) return undefined
      const hash = hashOfKey(key)
      if (hash === testHash) return testCaller
      const stored = lists.fresh()?.keys.get(hash)
      const isGood = stored !== undefined && findKeyRefusal(stored, clock.now()) === undefined
      return isGood ? toCaller(stored) : undefined
    },
  }
}

const toCaller = ({ id, name, perSecond, perDay, expires }: StoredKey): Caller => ({
  ...{ id, name, plan: { perSecond, perDay } },
  ...(expires === undefined ? {} : { expires }),
})

function findKeyRefusal({ revoked, expires }: StoredKey, now: number): Failure | undefined {
  if (revoked !== undefined)
    return new Failure('forbidden', 'This API key is revoked.', { zh: '此 API key 已被吊销。' })
  if (expires === undefined || expires > now) return undefined
  const day = new Date(expires).toISOString()
  return new Failure('forbidden', `This API key expired on ${day}.`, { zh: `此 API key 已于 ${day} 过期。` })
}

const unknownKey = (): Failure => new Failure('unauthorized', 'This API key is unknown.', { zh: '此 API key 不存在。' })
