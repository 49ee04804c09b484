import type { Clock } from '#time/clock.ts'

/**
 * The choice between the hosts of a cluster. A host is left out for one of two reasons. A silent host does not answer
 * probes: it hangs, was killed or is cut off. Any number of hosts may be silent. A doubted host, at most one at a time,
 * answers probes, but reads are only answered without it, because a link or its disk fails.
 */
export class HostChoice<T> {
  readonly silent = new Set<T>()
  doubted: T | undefined
  /** Grows whenever the set of usable hosts changes. */
  changes = 0
  private readonly hosts: readonly T[]
  private readonly now: () => number
  private readonly blamed = new Map<T, { readonly times: number; readonly last: number }>()
  private turn = 0
  private usual: readonly T[]

  constructor(hosts: readonly T[], now: () => number) {
    this.hosts = hosts
    this.now = now
    this.usual = hosts
  }

  next(without?: T): T {
    const { hosts } = this
    const among = this.usable(without)
    do this.turn = (this.turn + 1) % hosts.length
    while (!among.includes(hosts[this.turn] as T))
    return hosts[this.turn] as T
  }

  /**
   * The hosts that may get requests, and whose nodes' copies may be read: all but the silent ones and `without`, which
   * defaults to the doubted host. If none is left, all but the silent ones; if all are silent, all.
   */
  usable(without?: T): readonly T[] {
    return without === undefined ? this.usual : this.speaking(without)
  }

  noteSilent(host: T): void {
    if (this.silent.has(host)) return
    this.silent.add(host)
    this.changed()
  }

  noteResponsive(host: T): void {
    if (this.silent.delete(host)) this.changed()
  }

  /** Reports that a late read was answered as soon as it was sent without this host. It is left out at the second one in 10 seconds. */
  noteFasterWithout(host: T): void {
    if (this.silent.has(host) || host === this.doubted) return
    const { times: before, last } = this.blamed.get(host) ?? { times: 0, last: 0 }
    const times = this.now() - last < 10_000 ? before + 1 : 1
    this.blamed.set(host, { times, last: this.now() })
    if (times < 2) return
    this.doubted = host
    this.changed()
  }

  /** Reports that our own reads through the doubted host were answered in time. */
  clearDoubt(): void {
    this.doubted = undefined
    this.changed()
  }

  private changed(): void {
    this.changes += 1
    this.blamed.clear()
    this.usual = this.speaking(this.doubted)
  }

  private speaking(without: T | undefined): readonly T[] {
    const speaking = this.hosts.filter(host => !this.silent.has(host))
    const left = speaking.filter(host => host !== without)
    return [left, speaking].find(({ length }) => length > 0) ?? this.hosts
  }
}

export type Examined<T> = {
  /** Sends a request that costs the host nothing. Whether the host answered, with any status. Never rejects. */
  readonly probe: (host: T, limitMs: number) => Promise<boolean>
  /** Whether a read like the late one is answered in time through a host, as coordinator and from its copies. */
  readonly readBy: (host: T) => Promise<boolean>
  /** Called when a host has not answered a probe for seconds while another has: its requests are given up. */
  readonly onDead: (host: T) => void
}

/** A host is late if it answers after the first one by more than this time and four times the first one's. */
const GRACE_MS = 200
/** The first pause between two trials of doubted hosts, milliseconds. */
const TRUST_MS = 1_000

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
export class HostHealth<T> {
  private readonly examining: Examining<T>
  private isRunning = false
  private isClosed = false
  private last = Number.NEGATIVE_INFINITY
  private stopTimer: (() => void) | undefined
  private triedAt = Number.NEGATIVE_INFINITY
  private pauseMs = TRUST_MS

  constructor(examining: Examining<T>) {
    this.examining = examining
  }

  /** Called when a request is late: the probes show which host is at fault. */
  round(): void {
    const { hosts, clock } = this.examining
    if (hosts.length < 2 || this.isClosed || this.isRunning) return
    const now = clock.elapsed()
    // At most two rounds begin in a second.
    if (now - this.last < 500) {
      this.goOn()
      return
    }
    this.isRunning = true
    this.last = now
    void Promise.all([probeAll(this.examining), this.tryDoubted(now)]).finally(() => {
      this.isRunning = false
      this.goOn()
    })
  }

  failed(host: T): void {
    const { hosts, choice } = this.examining
    if (hosts.length < 2 || this.isClosed) return
    choice.noteSilent(host)
    this.round()
  }

  close(): void {
    this.isClosed = true
    this.stopTimer?.()
  }

  private goOn(): void {
    const { choice, clock } = this.examining
    this.stopTimer?.()
    this.stopTimer = undefined
    if (this.isClosed || (choice.silent.size === 0 && choice.doubted === undefined)) return
    // A round each second while a host is left out.
    this.stopTimer = clock.after(1_000, () => this.round())
  }

  private async tryDoubted(now: number): Promise<void> {
    const { choice, examined } = this.examining
    const { doubted } = choice
    const since = now - this.triedAt
    if (doubted === undefined || choice.silent.has(doubted) || since < this.pauseMs) return
    // A host may be trusted too early again and again: each trial doubles the pause before the next, up to 30
    // seconds. After a minute without a trial, the pause is the first again.
    this.pauseMs = since > 60_000 ? TRUST_MS : Math.min(30_000, this.pauseMs * 2)
    this.triedAt = now
    const isHelpful = await examined.readBy(doubted)
    // Another host may have become doubted meanwhile; this trial says nothing about that host.
    if (isHelpful && choice.doubted === doubted) choice.clearDoubt()
  }
}

/** Probes all hosts at once. Never rejects. */
async function probeAll<T>({ hosts, choice, examined, clock }: Examining<T>): Promise<void> {
  const since = clock.elapsed()
  const waiting = new Set(hosts)
  let isGraceOver = false
  let endGrace: (() => void) | undefined
  const answered = (host: T): void => {
    waiting.delete(host)
    if (!isGraceOver) choice.noteResponsive(host)
    endGrace ??= runAfterReading(clock, Math.max(GRACE_MS, 4 * (clock.elapsed() - since)), () => {
      isGraceOver = true
      for (const late of waiting) choice.noteSilent(late)
    })
  }
  await Promise.all(
    hosts.map(async host => {
      if (await examined.probe(host, 2_500)) answered(host)
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
function runAfterReading(clock: Pick<Clock, 'elapsed' | 'after'>, ms: number, work: () => void): () => void {
  const due = clock.elapsed() + ms
  let cancel = clock.after(ms, () => {
    // A timer that fires late was delayed by our own process: answers may be waiting.
    if (clock.elapsed() - due > 50) cancel = runAfterReading(clock, GRACE_MS, work)
    else work()
  })
  return () => cancel()
}
