import { Failure } from '#failure/failure.ts'
import type { KeyStore, StoredKey } from '#store/port.ts'
import type { Clock } from './clock.ts'
import { hashOfKey, KEY_MAX_LENGTH } from './key.ts'
import { keyLists } from './key-list.ts'
import type { Plan } from './plan.ts'

/** A key not in the list may have just been added: the list is read again when it is older than this. */
const UNKNOWN_REFRESH_MS = 100

/** Id of the shared test key's caller; a stored key's id is ten hexadecimal digits. */
const TEST_KEY_ID = 'test'

/** Who asks, and how much that one may ask. */
export type Caller = { readonly id: string; readonly plan: Plan }

export type Keyring = {
  /** Throws 'unauthorized' (no such key), 'forbidden' (revoked or expired), 'unavailable' (keys can not be read). */
  check(key: string): Promise<Caller>
}

export type KeyringOptions = {
  readonly store: Pick<KeyStore, 'list'>
  readonly clock: Clock
  /** The shared test key; absent: there is none. */
  readonly testKey?: { readonly key: string; readonly plan: Plan }
}

/**
 * Decides who may ask. Keys are looked up by the hash of their text, so how long a look-up takes says nothing of any
 * stored key. What was revoked is refused within two seconds, whatever becomes of any read of the list.
 */
export const keyring = ({ store, clock, testKey }: KeyringOptions): Keyring => {
  const testHash = testKey === undefined ? undefined : hashOfKey(testKey.key)
  const lists = keyLists(store, clock)
  return {
    check: async key => {
      if (key.length > KEY_MAX_LENGTH) throw unknownKey()
      const hash = hashOfKey(key)
      if (testKey !== undefined && hash === testHash) return { id: TEST_KEY_ID, plan: testKey.plan }
      const stored =
        (await lists.get()).keys.get(hash) ?? (await lists.get(UNKNOWN_REFRESH_MS)).keys.get(hash)
      if (stored === undefined) throw unknownKey()
      return callerOf(stored, clock.now())
    },
  }
}

const callerOf = ({ id, perSecond, perDay, revoked, expires }: StoredKey, now: number): Caller => {
  if (revoked !== undefined)
    throw new Failure('forbidden', 'This API key is revoked.', { zh: '此 API key 已被吊销。' })
  if (expires !== undefined && expires <= now)
    throw new Failure('forbidden', `This API key expired on ${new Date(expires).toISOString()}.`, {
      zh: `此 API key 已于 ${new Date(expires).toISOString()} 过期。`,
    })
  return { id, plan: { perSecond, perDay } }
}

const unknownKey = (): Failure =>
  new Failure('unauthorized', 'This API key is unknown.', { zh: '此 API key 不存在。' })
