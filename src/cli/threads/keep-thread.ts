import { Failure } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'
import { type Backoff, backoffMs } from '#time/backoff.ts'
import type { Clock } from '#time/clock.ts'
import type { FailureText, FromThread, ToThread } from './messages.ts'
import type { OpenThread, Thread } from './worker.ts'

/** A serving thread that is replaced whenever it dies. */
export type KeptThread = {
  /** Resolves when the thread first listens; rejects with the reason why it does not. */
  readonly ready: Promise<void>
  post(message: ToThread): void
  /** Lets the thread finish its requests, and ends it after `ms` in any case. */
  stop(ms: number): Promise<void>
}

export type Keeping = {
  /** Number of the thread, from 0. */
  readonly number: number
  readonly open: OpenThread
  /** Creates the first message to a new thread. */
  readonly begin: () => ToThread
  /** Called after a thread has died, before its replacement starts. */
  readonly onDeath: () => void
  readonly log: Log
  readonly writeLine: (line: string) => void
  readonly clock: Clock
}

/**
 * The pause before a replacement starts, short after a time without deaths. It keeps threads that die at
 * their start from causing a busy loop.
 */
const PAUSE: Backoff = { firstMs: 100, longestMs: 10_000 }
/** A thread that has lived longer than this died of a new cause, so the pauses start again. */
const LONG_LIFE_MS = 60_000

/** Opens a thread and replaces it when it dies, after pauses that grow. */
export const keepThread = (keeping: Keeping): KeptThread => {
  const { number, onDeath, log, clock } = keeping
  const ready = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const stopping = new AbortController()
  let current: Thread | undefined
  let isReady = false
  let failures = 0

  const start = (): void => {
    const since = clock.elapsed()
    current = openThread(keeping, {
      listening: () => {
        isReady = true
        ready.resolve()
      },
      stopped: over.resolve,
      ended: death => {
        current = undefined
        onDeath()
        ready.reject(death)
        if (isReady && !stopping.signal.aborted) void replace(death.message, clock.elapsed() - since)
        else over.resolve()
      },
    })
  }
  const replace = async (reason: string, livedMs: number): Promise<void> => {
    failures = livedMs > LONG_LIFE_MS ? 1 : failures + 1
    const ms = backoffMs(PAUSE, failures, clock.random())
    log('error', 'A serving thread has died; a new one replaces it.', {
      thread: number + 1,
      reason,
      wait_ms: Math.round(ms),
    })
    await clock.sleep(ms, stopping.signal)
    if (!stopping.signal.aborted) start()
  }

  start()
  return {
    ready: ready.promise,
    post: message => current?.post(message),
    stop: async ms => {
      stopping.abort()
      if (current === undefined) return
      current.post({ type: 'stop' })
      const cancel = clock.after(ms, over.resolve)
      await over.promise
      cancel()
      current?.end()
    },
  }
}

type Life = {
  readonly listening: () => void
  readonly stopped: () => void
  readonly ended: (death: Failure) => void
}

/** Runs one thread from its start to its end. */
const openThread = ({ open, begin, writeLine }: Keeping, { listening, stopped, ended }: Life): Thread => {
  let fault: Failure | undefined
  const hear = (message: FromThread): void => {
    switch (message.type) {
      case 'listening':
        listening()
        break
      case 'failed':
        fault = failureOf(message.failure)
        thread.end()
        break
      case 'lines':
        for (const line of message.lines) writeLine(line)
        thread.post({ type: 'logged' })
        break
      case 'stopped':
        stopped()
    }
  }
  const thread = open({
    message: hear,
    ended: reason => ended(fault ?? new Failure('defect', `A serving thread ended: ${reason}.`)),
  })
  thread.post(begin())
  return thread
}

const failureOf = ({ kind, message, help }: FailureText): Failure =>
  new Failure(kind, message, help === undefined ? {} : { help })
