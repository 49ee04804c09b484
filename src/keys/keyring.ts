import { hash as digest } from 'node:crypto'
import { Failure } from '#failure/failure.ts'
import type { KeyStore, StoredKey } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import { keysByHash } from './holder.ts'
import type { Plan } from './plan.ts'

/** An unknown key may have just been added: the list is read again if it is older than this. */
const UNKNOWN_REFRESH_MS = 100
/** A list older than this is read again; it answers checks until the new one arrives. */
const REFRESH_MS = 1_000
/** A list is trusted no longer than this after its read began; revoked keys are refused from then on. */
const BELIEVED_MS = 1_800
/** Minimum time between the starts of two reads, whether they succeed or not. */
const NEXT_MS = 250
/** Timeout of a read: a longer one would return a list that is no longer trusted. */
const READ_MS = 1_500
/**
 * Time that a check waits for a newer list while the current one is trusted (`believed`), and while it is not
 * (`needed`).
 */
const WAIT_MS = { believed: 100, needed: 1_000 } as const

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

/** With `hasty`, an unknown key does not cause the list to be read again. */
type Lookup = 'careful' | 'hasty'

export type KeyringOptions = {
  readonly store: Pick<KeyStore, 'list'>
  readonly clock: Clock
  /** The shared test key, if there is one. */
  readonly testKey?: { readonly key: string; readonly plan: Plan }
}

/**
 * Checks API keys. Keys are looked up by their hash, so the duration of a look-up reveals nothing about
 * stored keys. A revoked key is refused within two seconds, even if reads of the list fail.
 */
export const keyring = ({ store, clock, testKey }: KeyringOptions): Keyring => {
  const testHash = testKey === undefined ? undefined : hashOfKey(testKey.key)
  const testCaller = testKey === undefined ? undefined : { id: TEST_KEY_ID, name: TEST_KEY_ID, plan: testKey.plan }
  const lists = keyLists(store, clock)
  return {
    check: async (key, looking = 'careful') => {
      if (key.length > KEY_MAX_LENGTH) throw unknownKey()
      const hash = hashOfKey(key)
      if (testCaller !== undefined && hash === testHash) return testCaller
      const known = (await lists.get()).keys.get(hash)
      const again = known === undefined && looking === 'careful'
      const stored = again ? (await lists.get(UNKNOWN_REFRESH_MS)).keys.get(hash) : known
      if (stored === undefined) throw unknownKey()
      const refusal = refusalOf(stored, clock.now())
      if (refusal !== undefined) throw refusal
      return callerOf(stored)
    },
    refusalCheck: () => {
      const list = lists.believed()
      if (list === undefined) return undefined
      return hash => {
        if (hash === testHash) return undefined
        const stored = list.keys.get(hash)
        return stored === undefined ? unknownKey() : refusalOf(stored, clock.now())
      }
    },
    checkCached: key => {
      if (key.length > KEY_MAX_LENGTH) return undefined
      const hash = hashOfKey(key)
      if (hash === testHash) return testCaller
      const stored = lists.fresh()?.keys.get(hash)
      const isGood = stored !== undefined && refusalOf(stored, clock.now()) === undefined
      return isGood ? callerOf(stored) : undefined
    },
  }
}

const callerOf = ({ id, name, perSecond, perDay, expires }: StoredKey): Caller => ({
  ...{ id, name, plan: { perSecond, perDay } },
  ...(expires === undefined ? {} : { expires }),
})

const refusalOf = ({ revoked, expires }: StoredKey, now: number): Failure | undefined => {
  if (revoked !== undefined)
    return new Failure('forbidden', 'This API key is revoked.', { zh: '此 API key 已被吊销。' })
  if (expires === undefined || expires > now) return undefined
  const day = new Date(expires).toISOString()
  return new Failure('forbidden', `This API key expired on ${day}.`, { zh: `此 API key 已于 ${day} 过期。` })
}

const unknownKey = (): Failure => new Failure('unauthorized', 'This API key is unknown.', { zh: '此 API key 不存在。' })

/** Keys by their hash, and the time at which their read began (`Clock.elapsed`). */
type KeyList = { readonly keys: ReadonlyMap<string, StoredKey>; readonly at: number }

/**
 * Reads the list of keys, at most a few times a second for any number of requests. Reads may overlap: a read
 * that hangs delays no request, and the newest successful one is used.
 */
const keyLists = (store: Pick<KeyStore, 'list'>, clock: Clock) => {
  let known: KeyList | undefined
  let began = Number.NEGATIVE_INFINITY
  let failed: { readonly at: number; readonly cause: unknown } | undefined
  const reads = new Set<Promise<void>>()

  const read = async (at: number): Promise<void> => {
    try {
      const list = await readKeys(store, clock)
      if (known === undefined || at >= known.at) known = { keys: keysByHash(list), at }
      failed = undefined
    } catch (cause) {
      // An older read may have succeeded while this one was in progress: the store is then within reach.
      if (known === undefined || known.at <= at) failed = { at: clock.elapsed(), cause }
    }
  }
  /** Starts a read if one is due and the list is older than `maxAgeMs`. */
  const keepReading = (maxAgeMs: number): void => {
    if (younger(maxAgeMs) !== undefined) return
    const time = clock.elapsed()
    const idle = reads.size === 0 && !isFailing() && maxAgeMs < NEXT_MS
    if (time - began < (idle ? maxAgeMs : NEXT_MS)) return
    began = time
    const reading = read(time).finally(() => reads.delete(reading))
    reads.add(reading)
  }
  const younger = (ms: number): KeyList | undefined =>
    known !== undefined && clock.elapsed() - known.at < ms ? known : undefined
  /** While reads fail, no request waits for the next one. */
  const isFailing = (): boolean => failed !== undefined && clock.elapsed() - failed.at < REFRESH_MS

  return {
    /** The current list, if it need not be read again yet. */
    fresh: () => younger(REFRESH_MS),
    /** The current list while it is trusted; the next one is read before that ends. */
    believed: () => {
      keepReading(REFRESH_MS)
      return younger(BELIEVED_MS)
    },
    /** A list of that age if soon available, else an older one that is trusted. Throws 'unavailable'. */
    get: async (maxAgeMs = REFRESH_MS): Promise<KeyList> => {
      const fresh = younger(maxAgeMs)
      if (fresh !== undefined) return fresh
      keepReading(maxAgeMs)
      const since = clock.elapsed()
      while (younger(maxAgeMs) === undefined && !isFailing() && reads.size > 0) {
        const most = younger(BELIEVED_MS) === undefined ? WAIT_MS.needed : WAIT_MS.believed
        const left = since + most - clock.elapsed()
        if (left <= 0) break
        // Reads never reject; when none ends in time, the next one may be due.
        await within(Promise.race(reads), { ms: Math.min(left, NEXT_MS), clock }).catch(() => undefined)
        keepReading(maxAgeMs)
      }
      const believed = younger(maxAgeMs) ?? younger(BELIEVED_MS)
      if (believed === undefined) throw unreadable(failed?.cause)
      return believed
    },
  }
}

const readKeys = async (store: Pick<KeyStore, 'list'>, clock: Clock) => {
  const controller = new AbortController()
  const late = (): Error => new Error(`The list of keys was not read within ${READ_MS} ms.`)
  try {
    return await within(store.list(controller.signal), { ms: READ_MS, late, clock })
  } finally {
    controller.abort()
  }
}

const unreadable = (cause: unknown): Failure =>
  // Waiting does not bring lost keys back: the failure names the remedy.
  cause instanceof Failure && cause.kind === 'damaged'
    ? cause
    : new Failure('unavailable', 'API keys cannot be checked at the moment.', {
        ...{ zh: '暂时无法校验 API key。', details: { retryAfter: 1 }, cause },
      })
