import type { Clock } from '#time/clock.ts'

type Examined<T> = {
  readonly hosts: readonly T[]
  /** Sends a request that costs the host nothing. Whether the host answered, with any status. Never rejects. */
  readonly probe: (host: T, limitMs: number) => Promise<boolean>
  /** Called when a host has not answered a probe for seconds while another has: its requests are given up. */
  readonly onDead: (host: T) => void
  readonly clock: Pick<Clock, 'elapsed' | 'after'>
}

/**
 * The choice between the hosts of a cluster, which take turns. A silent host is left out: it hangs, was killed, is cut off
 * or is much slower than the others. Rounds of probes to all hosts find out. The hosts are compared with each other, so
 * that a slow machine makes none of them silent. Rounds begin when a request is late or fails, and continue while a host
 * is silent; a single host is never probed.
 */
export class HostHealth<T> {
  /** The hosts that may get requests, and whose nodes' copies may be read: all but the silent ones; if all are silent, all. */
  usable: readonly T[]
  private readonly silent = new Set<T>()
  private readonly examined: Examined<T>
  private turn = 0
  private isRunning = false
  private isClosed = false
  private last = Number.NEGATIVE_INFINITY
  private stopTimer: (() => void) | undefined

  constructor(examined: Examined<T>) {
    this.examined = examined
    this.usable = examined.hosts
  }

  next(among: readonly T[]): T {
    const { hosts } = this.examined
    do this.turn = (this.turn + 1) % hosts.length
    while (!among.includes(hosts[this.turn] as T))
    return hosts[this.turn] as T
  }

  /** The usable hosts without one, unless it is the only one. */
  without(host: T): readonly T[] {
    const left = this.usable.filter(each => each !== host)
    return left.length === 0 ? this.usable : left
  }

  /** Called when a request is late or fails, and while a host is silent: the probes show which host is at fault. */
  round(): void {
    const { hosts, clock } = this.examined
    if (hosts.length < 2 || this.isClosed || this.isRunning) return
    const now = clock.elapsed()
    // At most two rounds begin in a second.
    if (now - this.last < 500) {
      this.goOn()
      return
    }
    this.isRunning = true
    this.last = now
    void this.probeAll().finally(() => {
      this.isRunning = false
      this.goOn()
    })
  }

  failed(host: T): void {
    if (this.examined.hosts.length < 2 || this.isClosed) return
    this.note(host, true)
    this.round()
  }

  close(): void {
    this.isClosed = true
    this.stopTimer?.()
  }

  private note(host: T, isSilent: boolean): void {
    const { silent, examined } = this
    if (isSilent) silent.add(host)
    else silent.delete(host)
    const speaking = examined.hosts.filter(each => !silent.has(each))
    this.usable = speaking.length === 0 ? examined.hosts : speaking
  }

  private goOn(): void {
    this.stopTimer?.()
    this.stopTimer = undefined
    if (this.isClosed || this.silent.size === 0) return
    this.stopTimer = this.examined.clock.after(1_000, () => this.round())
  }

  private async probeAll(): Promise<void> {
    const { hosts, probe, onDead, clock } = this.examined
    const since = clock.elapsed()
    const waiting = new Set(hosts)
    let isLate = false
    let endWait: (() => void) | undefined
    await Promise.all(
      hosts.map(async host => {
        if (!(await probe(host, 2_500))) return
        waiting.delete(host)
        if (!isLate) this.note(host, false)
        // A host is silent if it answers much later than the first one.
        endWait ??= runAfterReading(clock, Math.max(GRACE_MS, 4 * (clock.elapsed() - since)), () => {
          isLate = true
          for (const late of waiting) this.note(late, true)
        })
      }),
    )
    // If no host answers, none is worse than another.
    if (endWait === undefined) return
    // This wait may outlast the round; it would then silence a host that answers the next round.
    endWait()
    for (const dead of waiting) {
      this.note(dead, true)
      onDead(dead)
    }
  }
}

/** Milliseconds that every host has for its answer after the first one. */
const GRACE_MS = 200

/** Runs work after some time. A timer that fires late was delayed by our own process: answers may be waiting to be read. */
function runAfterReading(clock: Pick<Clock, 'elapsed' | 'after'>, ms: number, work: () => void): () => void {
  const due = clock.elapsed() + ms
  let cancel = clock.after(ms, () => {
    if (clock.elapsed() - due > 50) cancel = runAfterReading(clock, GRACE_MS, work)
    else work()
  })
  return () => cancel()
}
