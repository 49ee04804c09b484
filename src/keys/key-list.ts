import { Failure } from '#failure/failure.ts'
import type { KeyStore, StoredKey } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import { keysByHash } from './holder.ts'

/** A list older than this is read again; what is asked meanwhile is answered by it. */
const REFRESH_MS = 1_000
/** A list is believed no longer than this after its reading began: what is revoked is refused from then on. */
const BELIEVED_MS = 1_800
/** The next read begins this long after the last one began, successful or not. */
const NEXT_MS = 250
/** One read may take this long: a longer one would give a list that is no longer believed. */
const READ_MS = 1_500
/** A request waits this long for a newer list while the one at hand is believed, and while it is not. */
const PATIENCE_MS = { believed: 100, needed: 1_000 } as const

/** Keys by the hash of their text, as stored when the reading began; `keysByHash` says more. */
export type KeyList = { readonly keys: ReadonlyMap<string, StoredKey>; readonly at: number }

export type KeyLists = {
  /**
   * A list that was read at most `maxAgeMs` ago if one is available soon, otherwise an older one that is still valid.
   * Throws 'unavailable' when there is none.
   */
  get(maxAgeMs?: number): Promise<KeyList>
  /** The list at hand when it need not be read again yet. */
  fresh(): KeyList | undefined
  /** The list at hand as long as it is believed; the next one is read before it is not. */
  believed(): KeyList | undefined
}

/**
 * Reads the list of keys, at most a few times a second for any number of requests. Reads run side by side: one that
 * hangs delays no request, and the newest that succeeds counts.
 */
export const keyLists = (store: Pick<KeyStore, 'list'>, clock: Clock): KeyLists => {
  let known: KeyList | undefined
  let began = Number.NEGATIVE_INFINITY
  let failed: { readonly at: number; readonly cause: unknown } | undefined
  const reads = new Set<Promise<void>>()

  const read = async (at: number): Promise<void> => {
    const controller = new AbortController()
    try {
      const late = (): Error => new Error(`The list of keys was not read within ${READ_MS} ms.`)
      const list = await within(store.list(controller.signal), { ms: READ_MS, late, clock })
      if (known === undefined || at >= known.at) known = { keys: keysByHash(list), at }
      failed = undefined
    } catch (cause) {
      // An older list may have come while this read was under way: then the store is not out of reach.
      if (known === undefined || known.at <= at) failed = { at: clock.now(), cause }
    } finally {
      controller.abort()
    }
  }
  /** Begins a read where one is due and no list is younger. A clock that was set back is no reason to wait. */
  const keepReading = (maxAgeMs: number): void => {
    if (younger(maxAgeMs) !== undefined) return
    const time = clock.now()
    const idle = reads.size === 0 && !isFailing() && maxAgeMs < NEXT_MS
    if (Math.abs(time - began) < (idle ? maxAgeMs : NEXT_MS)) return
    began = time
    const reading = read(time).finally(() => reads.delete(reading))
    reads.add(reading)
  }
  const younger = (ms: number): KeyList | undefined =>
    known !== undefined && Math.abs(clock.now() - known.at) < ms ? known : undefined
  /** While reads fail, no request waits for the next one. */
  const isFailing = (): boolean => failed !== undefined && Math.abs(clock.now() - failed.at) < REFRESH_MS

  return {
    fresh: () => younger(REFRESH_MS),
    believed: () => {
      keepReading(REFRESH_MS)
      return younger(BELIEVED_MS)
    },
    get: async (maxAgeMs = REFRESH_MS) => {
      const fresh = younger(maxAgeMs)
      if (fresh !== undefined) return fresh
      keepReading(maxAgeMs)
      const since = clock.now()
      while (younger(maxAgeMs) === undefined && !isFailing() && reads.size > 0) {
        const patience = younger(BELIEVED_MS) === undefined ? PATIENCE_MS.needed : PATIENCE_MS.believed
        const left = since + patience - clock.now()
        if (left <= 0) break
        // No read rejects; when none ends in time, the next one may be due.
        await within(Promise.race(reads), { ms: Math.min(left, NEXT_MS), clock }).catch(() => undefined)
        keepReading(maxAgeMs)
      }
      const believed = younger(maxAgeMs) ?? younger(BELIEVED_MS)
      if (believed === undefined) throw unreadable(failed?.cause)
      return believed
    },
  }
}

const unreadable = (cause: unknown): Failure =>
  // Lost keys do not come back by waiting: the failure names the remedy.
  cause instanceof Failure && cause.kind === 'damaged' ? cause : temporarily(cause)

const temporarily = (cause: unknown): Failure =>
  new Failure('unavailable', 'API keys cannot be checked at the moment.', {
    zh: '暂时无法校验 API key。',
    details: { retryAfter: 1 },
    cause,
  })
