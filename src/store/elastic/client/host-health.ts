import type { Clock } from '#time/clock.ts'
import type { HostChoice } from './host-choice.ts'

/** The means to examine hosts. */
export type Examined<T> = {
  /** Sends a request that costs the host nothing. Whether the host answered, with any status. Never rejects. */
  readonly probe: (host: T, limitMs: number) => Promise<boolean>
  /** Whether a read like the late one is answered in time through a host, as coordinator and from its copies. */
  readonly readBy: (host: T) => Promise<boolean>
  /** Called when a host has not answered a probe for seconds while another has: its requests are given up. */
  readonly onDead: (host: T) => void
}

/** Maximum time for the answer to a probe, milliseconds. */
const PROBE_MS = 2_500
/** A host is late if it answers after the first one by more than this time and four times the first one's. */
const GRACE_MS = 200
const GRACE_TIMES = 4
/** Minimum time between the starts of two rounds, milliseconds. */
const ROUND_MS = 500
/** Time between two rounds while a host is left out, milliseconds. */
const AGAIN_MS = 1_000
/** The first and the longest pause before a doubted host is tried again, milliseconds. */
const TRUST_MS = 1_000
const LONGEST_TRUST_MS = 30_000
/** A timer that fires later than this, in ms, was delayed by our own process: answers may be waiting. */
const STALL_MS = 50

/** The hosts to examine and the means to do it. */
type Examining<T> = {
  readonly hosts: readonly T[]
  readonly choice: HostChoice<T>
  readonly examined: Examined<T>
  readonly clock: Pick<Clock, 'elapsed' | 'after'>
}

/**
 * Finds responsive hosts by rounds of probes to all hosts at once. The hosts are compared with each other, so
 * that a slow machine makes none of them silent. Rounds begin when a request is late or fails, and continue
 * while a host is left out; a single host is never probed.
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
    /** Called when a request is late: the probes show which host is at fault. */
    round,
    /** Called when a request to the host failed. */
    failed: (host: T): void => {
      if (hosts.length < 2 || isClosed) return
      choice.noteSilent(host)
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
    if (!isGraceOver) choice.noteResponsive(host)
    endGrace ??= afterReading(clock, Math.max(GRACE_MS, GRACE_TIMES * (clock.elapsed() - since)), () => {
      isGraceOver = true
      for (const late of waiting) choice.noteSilent(late)
    })
  }
  await Promise.all(
    hosts.map(async host => {
      if (await examined.probe(host, PROBE_MS)) answered(host)
    }),
  )
  // If no host answers, none is worse than another.
  if (endGrace === undefined) return
  // The grace period may outlast the round; it would then silence a host that answers the next round.
  endGrace()
  for (const dead of waiting) {
    choice.noteSilent(dead)
    examined.onDead(dead)
  }
}

/** Runs `work` after the time, once pending answers are read, unless the returned function is called before. */
const afterReading = (clock: Pick<Clock, 'elapsed' | 'after'>, ms: number, work: () => void): (() => void) => {
  const due = clock.elapsed() + ms
  let cancel = clock.after(ms, () => {
    if (clock.elapsed() - due > STALL_MS) cancel = afterReading(clock, GRACE_MS, work)
    else work()
  })
  return () => cancel()
}

/** Tries the doubted host now and then; each attempt doubles the pause before the next. */
const trials = <T>({ choice, examined, clock }: Examining<T>) => {
  let tried: T | undefined
  let pauseMs = TRUST_MS
  let nextAt = 0
  return async (): Promise<void> => {
    const { doubted } = choice
    const now = clock.elapsed()
    if (doubted === undefined || choice.silent.has(doubted)) return
    // The host has just become doubted. If it failed soon after it was trusted, the longer pause applies.
    if (tried !== doubted) {
      pauseMs = now - nextAt > LONGEST_TRUST_MS ? TRUST_MS : pauseMs
      nextAt = now + pauseMs
      tried = doubted
    }
    if (now < nextAt) return
    pauseMs = Math.min(LONGEST_TRUST_MS, pauseMs * 2)
    nextAt = now + pauseMs
    const isHelpful = await examined.readBy(doubted)
    // Another host may have become doubted meanwhile; this trial says nothing about that host.
    if (!isHelpful || choice.doubted !== doubted) return
    tried = undefined
    choice.clearDoubt()
  }
}
