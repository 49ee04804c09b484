import type { Clock } from '#time/clock.ts'
import type { HostChoice } from './host-choice.ts'

/** What the health of hosts is found out by. */
export type Examined<T> = {
  /** Asks a host for something that costs it nothing; whether it answered, however. Never rejects. */
  readonly probe: (host: T, limitMs: number) => Promise<boolean>
  /** Whether a read that was late is answered in time by way of a host, as coordinator and from its copies. */
  readonly readBy: (host: T) => Promise<boolean>
  /** It has not answered a probe for seconds while another host has: what it holds is not waited for. */
  readonly onDead: (host: T) => void
}

/** A probe that takes longer is not answered, milliseconds. */
const PROBE_MS = 2_500
/** Hosts are late when they take this much longer than the first to answer, and four times as long. */
const GRACE_MS = 200
const GRACE_TIMES = 4
/** Least time between the beginnings of two rounds. */
const ROUND_MS = 500
/** Time between two rounds while a host is left out. */
const AGAIN_MS = 1_000
/** The first and the longest pause before a doubted host is tried again. */
const TRUST_MS = 1_000
const LONGEST_TRUST_MS = 30_000
/** A timer that comes later than this was held up by our own process, and answers may be waiting to be read. */
const STALL_MS = 50

/** What hosts are examined for, and with what. */
type Examining<T> = {
  readonly hosts: readonly T[]
  readonly choice: HostChoice<T>
  readonly examined: Examined<T>
  readonly clock: Pick<Clock, 'elapsed' | 'after'>
}

/**
 * Finds out which hosts answer, by rounds of probes to all of them at once: hosts are compared with each other, so that a
 * slow machine makes none of them silent. Rounds begin when a request is late or fails, and go on while a host is left
 * out; with one host there are none.
 */
export const hostHealth = <T>(examining: Examining<T>) => {
  const { hosts, choice, clock } = examining
  const tryDoubted = trials(examining)
  let isRunning = false
  let isClosed = false
  let last = Number.NEGATIVE_INFINITY
  let stopTimer: (() => void) | undefined
  const goOn = (): void => {
    stopTimer?.()
    stopTimer = undefined
    if (isClosed || (choice.silent.size === 0 && choice.doubted === undefined)) return
    stopTimer = clock.after(AGAIN_MS, round)
  }
  const round = (): void => {
    if (hosts.length < 2 || isClosed || isRunning) return
    const now = clock.elapsed()
    if (now - last < ROUND_MS) {
      goOn()
      return
    }
    isRunning = true
    last = now
    void Promise.all([probeAll(examining), tryDoubted()]).finally(() => {
      isRunning = false
      goOn()
    })
  }
  return {
    /** A request is late: whose fault is it? */
    round,
    /** A request failed there. */
    failed: (host: T): void => {
      if (hosts.length < 2 || isClosed) return
      choice.silence(host)
      round()
    },
    close: (): void => {
      isClosed = true
      stopTimer?.()
    },
  }
}

export type HostHealth<T> = ReturnType<typeof hostHealth<T>>

/** Probes all hosts at once. Never rejects. */
const probeAll = async <T>({ hosts, choice, examined, clock }: Examining<T>): Promise<void> => {
  const since = clock.elapsed()
  const waiting = new Set(hosts)
  let isGraceOver = false
  let endGrace: (() => void) | undefined
  const answered = (host: T): void => {
    waiting.delete(host)
    if (!isGraceOver) choice.heard(host)
    endGrace ??= afterReading(clock, Math.max(GRACE_MS, GRACE_TIMES * (clock.elapsed() - since)), () => {
      isGraceOver = true
      for (const late of waiting) choice.silence(late)
    })
  }
  await Promise.all(
    hosts.map(async host => {
      if (await examined.probe(host, PROBE_MS)) answered(host)
    }),
  )
  // If none answers, none is worse than another.
  if (endGrace === undefined) return
  // The grace may be longer than the round, and would silence who answers the next one.
  endGrace()
  for (const dead of waiting) {
    choice.silence(dead)
    examined.onDead(dead)
  }
}

/** Runs after the time, and once what came meanwhile is read, unless the returned function is called before. */
const afterReading = (
  clock: Pick<Clock, 'elapsed' | 'after'>,
  ms: number,
  work: () => void,
): (() => void) => {
  const due = clock.elapsed() + ms
  let cancel = clock.after(ms, () => {
    if (clock.elapsed() - due > STALL_MS) cancel = afterReading(clock, GRACE_MS, work)
    else work()
  })
  return () => cancel()
}

/** Tries the doubted host now and then, less often the more often that fails. */
const trials = <T>({ choice, examined, clock }: Examining<T>) => {
  let tried: T | undefined
  let pauseMs = TRUST_MS
  let nextAt = 0
  return async (): Promise<void> => {
    const { doubted } = choice
    const now = clock.elapsed()
    if (doubted === undefined || choice.silent.has(doubted)) return
    // It has just become so: again, where it failed soon after it was trusted.
    if (tried !== doubted) {
      pauseMs = now - nextAt > LONGEST_TRUST_MS ? TRUST_MS : pauseMs
      nextAt = now + pauseMs
      tried = doubted
    }
    if (now < nextAt) return
    pauseMs = Math.min(LONGEST_TRUST_MS, pauseMs * 2)
    nextAt = now + pauseMs
    const isHelpful = await examined.readBy(doubted)
    // Another host may have become the doubted one meanwhile, and nothing is known of that one.
    if (!isHelpful || choice.doubted !== doubted) return
    tried = undefined
    choice.trust()
  }
}
