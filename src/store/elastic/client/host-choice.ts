/** Which hosts of a cluster are asked. */
export type HostChoice<T> = {
  /** The next host in turn, of those that `usable` gives. */
  next(without?: T): T
  /**
   * The hosts to be asked, and whose nodes' copies are to be read: all but the silent ones and `without`, by default the
   * one that is doubted. If none is left, all but the silent ones; if there is none either, all.
   */
  usable(without?: T): readonly T[]
  /** It did not answer a request or a probe. */
  silence(host: T): void
  /** It answered a probe in time. */
  heard(host: T): void
  /** A read that was late was answered as soon as nothing of it went by this host. */
  helpedWithout(host: T): void
  /** Our own reads by way of the doubted host were answered in time. */
  trust(): void
  readonly silent: ReadonlySet<T>
  readonly doubted: T | undefined
  /** Grows when other hosts are usable. */
  readonly changes: number
}

/** Late reads that a host is blamed for before it is left out. */
const BLAMED_AT = 2
/** Blame is forgotten after this time, milliseconds. */
const BLAME_MS = 10_000

/**
 * Two reasons to leave a host out. It is silent: it does not answer probes, so it hangs, was killed or is cut off, and
 * any number of hosts may be. Or it is doubted, one at a time: it answers probes, but reads are only answered without it,
 * because a link or its disk fails.
 */
export const hostChoice = <T>(hosts: readonly T[], now: () => number): HostChoice<T> => {
  const silent = new Set<T>()
  const blamed = new Map<T, { times: number; last: number }>()
  let doubted: T | undefined
  let turn = 0
  let changes = 0
  let usual = hosts
  const usable = (without: T | undefined): readonly T[] => {
    const speaking = hosts.filter(host => !silent.has(host))
    const left = speaking.filter(host => host !== without)
    return [left, speaking].find(({ length }) => length > 0) ?? hosts
  }
  const changed = (): void => {
    changes += 1
    blamed.clear()
    usual = usable(doubted)
  }
  return {
    next: without => {
      const among = without === undefined ? usual : usable(without)
      turn = (turn + 1) % hosts.length
      while (!among.includes(hosts[turn] as T)) turn = (turn + 1) % hosts.length
      return hosts[turn] as T
    },
    usable: without => (without === undefined ? usual : usable(without)),
    silence: host => {
      if (silent.has(host)) return
      silent.add(host)
      changed()
    },
    heard: host => {
      if (silent.delete(host)) changed()
    },
    helpedWithout: host => {
      if (silent.has(host) || host === doubted) return
      const { times: before, last } = blamed.get(host) ?? { times: 0, last: 0 }
      const times = now() - last < BLAME_MS ? before + 1 : 1
      blamed.set(host, { times, last: now() })
      if (times < BLAMED_AT) return
      doubted = host
      changed()
    },
    trust: () => {
      if (doubted === undefined) return
      doubted = undefined
      changed()
    },
    silent,
    get doubted() {
      return doubted
    },
    get changes() {
      return changes
    },
  }
}
