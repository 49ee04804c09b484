import { Failure } from '#failure/failure.ts'
import type { KeyStore, StoredKey } from '#store/port.ts'
import { hashOfKey, KEY_MAX_LENGTH } from './key.ts'
import type { Plan } from './plan.ts'

/** A revocation is heeded this many milliseconds after it is stored, at the latest. */
const REFRESH_MS = 1_000
/** A key not in the list may have just been added: the list is read again when it is older than this. */
const UNKNOWN_REFRESH_MS = 100
/** While the list can not be read, the last one serves this long; after that nobody can be let in. */
const OUTAGE_MS = 60_000
/** A request waits this long for a slow list before the last one serves. */
const PATIENCE_MS = 500

/** Id of the shared test key's caller; a stored key's id is ten hexadecimal digits. */
const TEST_KEY_ID = 'test'

/** Who asks, and how much that one may ask. */
export type Caller = { readonly id: string; readonly plan: Plan }

export type Keyring = {
  /** Throws 'unauthorized' (no such key), 'forbidden' (revoked or expired), 'unavailable' (keys can not be read). */
  check(key: string): Promise<Caller>
}

export type KeyringOptions = {
  readonly store: KeyStore
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The shared test key; absent: there is none. */
  readonly testKey?: { readonly key: string; readonly plan: Plan }
  readonly patienceMs?: number
}

type List = { readonly keys: ReadonlyMap<string, StoredKey>; readonly at: number }

/**
 * Decides who may ask. Keys are looked up by the hash of their text, so how long a look-up takes says nothing of any
 * stored key. The list is read at most once a second, however many ask.
 */
export const keyring = ({ store, now, testKey, patienceMs = PATIENCE_MS }: KeyringOptions): Keyring => {
  const testHash = testKey === undefined ? undefined : hashOfKey(testKey.key)
  let known: List | undefined
  let tried = Number.NEGATIVE_INFINITY
  let reading: Promise<List> | undefined

  const read = async (): Promise<List> => {
    const at = now()
    tried = at
    const keys = new Map((await store.list()).map(key => [key.hash, key] as const))
    known = { keys, at }
    return known
  }
  const refresh = (): Promise<List> => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
  const list = async (maxAgeMs: number): Promise<List> => {
    const last = known
    if (last === undefined) return refresh()
    const time = now()
    if (Math.abs(time - last.at) < maxAgeMs) return last
    // An attempt that failed a moment ago, or hangs, is not waited for by each request.
    const inVain =
      reading === undefined ? tried > last.at && time - tried < REFRESH_MS : time - tried >= patienceMs
    const fresh = inVain ? undefined : await within(refresh(), patienceMs)
    if (fresh !== undefined) return fresh
    if (now() - last.at > OUTAGE_MS) throw unreadable()
    return last
  }

  return {
    check: async key => {
      if (key.length > KEY_MAX_LENGTH) throw unknownKey()
      const hash = hashOfKey(key)
      if (testKey !== undefined && hash === testHash) return { id: TEST_KEY_ID, plan: testKey.plan }
      const stored =
        (await list(REFRESH_MS)).keys.get(hash) ?? (await list(UNKNOWN_REFRESH_MS)).keys.get(hash)
      if (stored === undefined) throw unknownKey()
      return callerOf(stored, now())
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

const unreadable = (): Failure =>
  new Failure('unavailable', 'API keys can not be checked at the moment.', { zh: '暂时无法校验 API key。' })

/** The value, or undefined when it fails or takes longer. */
const within = async <T>(value: Promise<T>, ms: number): Promise<T | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  // A failed read is no answer; whether the last list still serves is decided by its age, above.
  const answer = value.catch(() => undefined)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
