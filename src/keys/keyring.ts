import { hash as digest } from 'node:crypto'
import { Failure } from '#failure/failure.ts'
import type { KeyPage, KeyStore, StoredKey } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { awaitLimited } from '#time/deadline.ts'
import type { Plan } from './plan.ts'

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
const parseHolderId = (stored: string): string => stored.split('.', 1)[0] ?? stored
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
export const mapKeysByHash = (keys: readonly StoredKey[]): ReadonlyMap<string, StoredKey> =>
  new Map(
    groupHolders(keys).flatMap(({ id, current, former, revoked }) => {
      const { name, perSecond, perDay } = current
      const common = { id, name, perSecond, perDay, ...(revoked === undefined ? {} : { revoked }) }
      return [current, ...former].map(key => [key.hash, { ...key, ...common }] as const)
    }),
  )

/** A list older than this is brought up to date; it answers checks until then. */
const REFRESH_MS = 1_000
/** A list is trusted no longer than this after its read began; revoked keys are refused from then on. */
const BELIEVED_MS = 1_800
/** Minimum time between the starts of two reads, whether they succeed or not. */
const NEXT_MS = 250
/** Timeout of a read: a longer one would return a list that is no longer trusted. */
const READ_MS = 1_500
/**
 * Time that a check waits for a newer list while the current one is trusted (`believed`), and for the next page of it
 * while it is not (`needed`).
 */
const WAIT_MS = { believed: 100, needed: 1_000 } as const

/** The keys as a store had them at a time (`Clock.elapsed`). */
type KeyList = {
  /** The keys by their hash, each with the id and plan of its holder. */
  readonly keys: ReadonlyMap<string, StoredKey>
  readonly at: number
}

type KeyReader = Pick<KeyStore, 'read'>

/**
 * Keeps the list of keys: all of them are read once, then only those that were written since. There are at most a few
 * reads a second for any number of requests. Reads may overlap: a read that hangs delays no request.
 *
 * While all of them are read, a check waits as long as pages arrive, and is not refused. To look its key up alone would
 * be no faster: neither store has the keys in the order of their hashes, so it would visit all of them as well.
 * Afterwards the list has every key, and an unknown one costs a read of what was written since.
 */
class KeyWatch {
  private readonly store: KeyReader
  private readonly clock: Clock
  private list = new PartialList()
  private known: KeyList | undefined
  /** Start of the newest read whose keys were taken. */
  private taken = Number.NEGATIVE_INFINITY
  /** When a page with keys was last taken. */
  private progressAt = Number.NEGATIVE_INFINITY
  private began = Number.NEGATIVE_INFINITY
  /** The last failure, unless a read succeeded since. */
  private failed: { readonly at: number; readonly cause: unknown } | undefined
  private readonly reads = new Set<Promise<void>>()

  constructor(store: KeyReader, clock: Clock) {
    this.store = store
    this.clock = clock
  }

  /** The current list, if it need not be read again yet. */
  fresh(): KeyList | undefined {
    return this.younger(REFRESH_MS)
  }

  /** The current list while it is trusted; the next one is read before that ends. */
  believed(): KeyList | undefined {
    this.keepReading(REFRESH_MS)
    return this.younger(BELIEVED_MS)
  }

  /** A list of that age if soon available, else an older one that is trusted. Throws 'unavailable'. */
  async get(maxAgeMs = REFRESH_MS): Promise<KeyList> {
    const fresh = this.younger(maxAgeMs)
    if (fresh !== undefined) return fresh
    this.keepReading(maxAgeMs)
    const since = this.clock.elapsed()
    // While reads fail, no request waits for the next one.
    while (this.younger(maxAgeMs) === undefined && !this.isFailing() && this.reads.size > 0) {
      const until =
        this.younger(BELIEVED_MS) === undefined
          ? Math.max(since, this.progressAt) + WAIT_MS.needed
          : since + WAIT_MS.believed
      const left = until - this.clock.elapsed()
      if (left <= 0) break
      // Reads never reject. When none ends in time, the next one may be due.
      const ended = awaitLimited(Promise.race(this.reads), { ms: Math.min(left, NEXT_MS), clock: this.clock })
      await ended.catch(() => undefined)
      this.keepReading(maxAgeMs)
    }
    const believed = this.younger(maxAgeMs) ?? this.younger(BELIEVED_MS)
    if (believed === undefined) throw unreadable(this.failed?.cause)
    return believed
  }

  /** The list if its read began less than so many milliseconds ago. */
  private younger(ms: number): KeyList | undefined {
    return this.known !== undefined && this.clock.elapsed() - this.known.at < ms ? this.known : undefined
  }

  /** Starts a read if one is due and the list is older than `maxAgeMs`. */
  private keepReading(maxAgeMs: number): void {
    if (this.younger(maxAgeMs) !== undefined) return
    const idle = this.reads.size === 0 && !this.isFailing() && maxAgeMs < NEXT_MS
    if (this.clock.elapsed() - this.began < (idle ? maxAgeMs : NEXT_MS)) return
    const reading = this.read().finally(() => this.reads.delete(reading))
    this.reads.add(reading)
  }

  private isFailing(): boolean {
    return this.failed !== undefined && this.clock.elapsed() - this.failed.at < REFRESH_MS
  }

  private async read(): Promise<void> {
    for (;;) {
      const at = this.clock.elapsed()
      this.began = at
      try {
        if (this.take(await readPage(this.store, this.list.mark, this.clock), at)) return
      } catch (cause) {
        // An older read may have succeeded while this one was in progress: the store is then within reach.
        if (this.taken <= at) this.failed = { at: this.clock.elapsed(), cause }
        return
      }
    }
  }

  /** Takes the keys of a page unless a later read was faster. Returns whether nothing is left to read. */
  private take(page: KeyPage, at: number): boolean {
    if (at < this.taken) return true
    this.taken = at
    // The list in use stays until the new one is complete.
    if (page.isStart) this.list = new PartialList()
    this.list.add(page)
    if (page.keys.length > 0) this.progressAt = this.clock.elapsed()
    if (page.isEnd) this.known = { keys: this.list.byHash, at }
    this.failed = undefined
    return page.isEnd
  }
}

/** The keys that were read so far. */
class PartialList {
  readonly byHash = new Map<string, StoredKey>()
  mark: string | undefined
  private readonly byHolder = new Map<string, readonly StoredKey[]>()

  add({ keys, mark }: KeyPage): void {
    for (const key of keys) {
      const holder = parseHolderId(key.id)
      const others = (this.byHolder.get(holder) ?? []).filter(({ id }) => id !== key.id)
      const own = [...others, key]
      this.byHolder.set(holder, own)
      // A new plan, or a revocation, is one of all keys of the holder.
      for (const [hash, stored] of mapKeysByHash(own)) this.byHash.set(hash, stored)
    }
    this.mark = mark
  }
}

async function readPage(store: KeyReader, mark: string | undefined, clock: Clock): Promise<KeyPage> {
  const controller = new AbortController()
  const late = (): Error => new Error(`The list of keys was not read within ${READ_MS} ms.`)
  try {
    return await awaitLimited(store.read(mark, controller.signal), { ms: READ_MS, late, clock })
  } finally {
    controller.abort()
  }
}

const unreadable = (cause: unknown): Failure =>
  // Waiting does not bring lost keys back: the failure names the remedy.
  cause instanceof Failure && cause.kind === 'damaged'
    ? cause
    : new Failure('unavailable', 'API keys cannot be checked at the moment.', {
        zh: '暂时无法校验 API key。',
        details: { retryAfter: 1 },
        cause,
      })

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

type KeyringOptions = {
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
  const lists = new KeyWatch(store, clock)
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
  id,
  name,
  plan: { perSecond, perDay },
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
