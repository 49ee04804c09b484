import { PARENT_HASH } from '#chain/check.ts'
import { Failure } from '#failure/failure.ts'
import { DERIVATION } from '#indices/registry.ts'
import { fetchChain, judgeNode, lacksText, unfitHelp, unfitText } from '#node/pool.ts'
import type { BlockSource, ChainInfo, Unfit } from '#node/port.ts'
import type { Identity, Published, Store } from '#store/port.ts'
import { createHashSource } from '#store/servable.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import { awaitLimited, awaitLimitedAfterAbort, joinSignals } from '#time/deadline.ts'
import { DivergedEnd, isTransient, pauseAfterFailure, type RetryPolicy, retriesExhausted } from './retry.ts'
import { type LoadOptions, type LoadProgress, openSession, type Session } from './session.ts'

/** Requires the checkpoint's block to be the node's, for one chain per store. Throws 'unavailable', or `DivergedEnd`. */
async function requireSameChain(
  { checkpoint, store, identity }: { checkpoint: Published | undefined; store: Store; identity: Identity },
  { node, info }: { readonly node: BlockSource; readonly info: ChainInfo },
  signal: AbortSignal,
): Promise<void> {
  if (checkpoint === undefined) return
  const verdict = await judgeNode(
    // The store would have refused the lock if the first block were a different one.
    { ...info, blockHash: async height => (height === 0 ? identity.genesis : await node.blockHash(height, signal)) },
    { identity, last: checkpoint, hashAt: createHashSource(store, signal).hashAt },
  )
  if (verdict.is === 'behind')
    // The node is still syncing, or was restarted: the load waits for it rather than go back.
    throw new Failure(
      'unavailable',
      `The node's last irreversible block ${info.libBlock} is below the loaded height ${checkpoint.height}.`,
    )
  if (verdict.is === 'lacks')
    // The node's reported last irreversible block is not true.
    throw new Failure('unavailable', `${lacksText(verdict, 'the node')}.`)
  if (verdict.is !== 'fit') throw otherEnd(verdict, node)
}

const otherEnd = (unfit: Unfit, { name }: BlockSource): DivergedEnd =>
  new DivergedEnd('conflict', `${unfitText(unfit, 'the node')}.`, {
    help: `The stored blocks differ from the node's. ${unfitHelp(unfit, name)}`,
  })

/**
 * The reason why a session failed. A block may fail because the last stored one, which no block had named
 * yet, is not the chain's.
 */
async function findFailureReason(
  failed: unknown,
  checkpoint: Published | undefined,
  { node, signal }: { readonly node: BlockSource; readonly signal: AbortSignal },
): Promise<unknown> {
  if (!(failed instanceof Failure) || failed.kind !== 'bad_block' || checkpoint === undefined) return failed
  const { height, hash: stored } = checkpoint
  const there = await node.blockHash(height, signal).catch(() => undefined)
  if (there !== undefined && there !== stored) return otherEnd({ is: 'apart', height, stored, there }, node)
  const { rule, height: at } = failed.details
  if (rule !== PARENT_HASH || at !== height + 1) return failed
  return new Failure('bad_block', failed.message, {
    cause: failed,
    details: failed.details,
    help: `The node's next block does not follow the last stored one. Use another node. If that one has another block ${height}, run 'iostlens repair' with it.`,
  })
}

/**
 * Loads the chain from the store's checkpoint on: only irreversible blocks, in order, each batch complete or absent.
 * Resolves when `once` is done or `signal` aborts; `height` is the last committed and published one (−1: none). Failures
 * that may pass are retried with growing pauses, each time with a new lock on the store (`retry`). Any other failure
 * ('bad_block', 'conflict', 'defect') is thrown once the blocks before it are committed; no block is ever skipped. Throws
 * 'unavailable' when the time for retries is over.
 */
export async function load(
  { node, store }: { readonly node: BlockSource; readonly store: Store },
  options: LoadOptions,
): Promise<{ readonly height: number }> {
  const { log, retry, clock = systemClock } = options
  let height = await loadedHeight(store)
  let failures = 0
  let last: unknown
  let isDone = false
  const time = startWaiting(retry, options.signal, clock)
  const listeners = {
    onStart: (checkpoint: Session['checkpoint']): void => {
      height = checkpoint?.height ?? -1
    },
    onProgress: (progress: LoadProgress): void => {
      height = progress.height
      failures = 0
      // The last batch may be on its way when the time is over.
      isDone = time.over() && height >= progress.target
      time.progress()
      options.onProgress(progress)
    },
  }
  const { signal } = time
  try {
    while (!signal.aborted) {
      const failed = await awaitInTime(loadOnce({ node, store }, { ...options, signal }, listeners), signal)
      if (failed === undefined || signal.aborted) break
      options.onFailure?.()
      if (!isTransient(failed, retry)) throw failed
      last = failed
      failures += 1
      await pauseAfterFailure(failed, { attempt: failures, height }, { log, clock, signal })
    }
    if (time.over() && !isDone && !options.signal.aborted) throw retriesExhausted(last)
    return { height }
  } finally {
    time.end()
  }
}

/** The loaded height; −1: none, or the store is out of reach and the load itself waits for it. */
export async function loadedHeight(store: Pick<Store, 'published'>): Promise<number> {
  try {
    return (await store.published())?.height ?? -1
  } catch (error) {
    if (error instanceof Failure && error.retryable) return -1
    throw error
  }
}

/**
 * The result of `work`; undefined if it has not ended some time after `signal` aborted: that is the time to write the
 * current batch, and a store that hangs is abandoned.
 */
function awaitInTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const late = Symbol('late')
  return awaitLimitedAfterAbort(work, { signal, ms: 3_000, late: () => late }).catch((error: unknown) => {
    if (error === late) return undefined
    throw error
  })
}

/** One session with the store locked, until done, aborted or failed: undefined, or the failure. */
async function loadOnce(
  { node, store }: { readonly node: BlockSource; readonly store: Store },
  options: LoadOptions,
  {
    onStart,
    onProgress,
  }: { onStart(checkpoint: Session['checkpoint']): void; onProgress(progress: LoadProgress): void },
): Promise<unknown> {
  let open: Session | undefined
  try {
    const info = await fetchChain(node, options.signal)
    const identity = { chainId: info.chainId, genesis: info.genesis, derivation: DERIVATION }
    open = await awaitSession(openSession({ node, store, identity }, { ...options, onProgress }), options.signal)
    onStart(open.checkpoint)
    await requireSameChain({ checkpoint: open.checkpoint, store, identity }, { node, info }, options.signal)
    await open.run()
    return undefined
  } catch (error) {
    const failed = error ?? new Failure('defect', 'An undefined value was thrown.')
    return await findFailureReason(failed, open?.checkpoint, { node, signal: options.signal })
  } finally {
    await open?.close()
  }
}

/** Starts the time limit of a load without progress. Its signal aborts with the caller's, and when the time is over. */
function startWaiting(retry: RetryPolicy | undefined, signal: AbortSignal, clock: Pick<Clock, 'after'>) {
  const ends = joinSignals(signal)
  let over = false
  let cancel = (): void => undefined
  /** Restarts the time, since blocks were loaded. */
  const progress = (): void => {
    cancel()
    if (typeof retry !== 'object' || retry.waitMs === Number.POSITIVE_INFINITY) return
    cancel = clock.after(retry.waitMs, () => {
      over = true
      ends.abort('no progress')
    })
  }
  progress()
  return {
    signal: ends.signal,
    over: (): boolean => over,
    progress,
    end: (): void => {
      cancel()
      ends.release()
    },
  }
}

/** The session, unless `signal` aborts first: locking may wait until another loader's lease expires. */
async function awaitSession(opening: Promise<Session>, signal: AbortSignal): Promise<Session> {
  const aborted = (): Failure => new Failure('deadline', 'Loading was stopped before it had locked the store.')
  try {
    return await awaitLimited(opening, { signal, aborted })
  } catch (error) {
    opening.then(late => late.close()).catch(() => undefined)
    throw error
  }
}
