/** The choice between the hosts of a cluster. */
export type HostChoice<T> = {
  /** The next host in turn among those of `usable`. */
  next(without?: T): T
  /**
   * The hosts that may get requests, and whose nodes' copies may be read: all but the silent ones and `without`, which
   * defaults to the doubted host. If none is left, all but the silent ones; if all are silent, all.
   */
  usable(without?: T): readonly T[]
  /** Reports that the host did not answer a request or a probe. */
  noteSilent(host: T): void
  /** Reports that the host answered a probe in time. */
  noteResponsive(host: T): void
  /** Reports that a late read was answered as soon as it was sent without this host. */
  noteFasterWithout(host: T): void
  /** Reports that our own reads through the doubted host were answered in time. */
  clearDoubt(): void
  readonly silent: ReadonlySet<T>
  readonly doubted: T | undefined
  /** Grows whenever the set of usable hosts changes. */
  readonly changes: number
}

/** Number of late reads blamed on a host before it is left out. */
const BLAMED_AT = 2
/** Time after which blame is forgotten, milliseconds. */
const BLAME_MS = 10_000

/**
 * A host is left out for one of two reasons. A silent host does not answer probes: it hangs, was killed or is
 * cut off. Any number of hosts may be silent. A doubted host, at most one at a time, answers probes, but
 * reads are only answered without it, because a link or its disk fails.
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
    noteSilent: host => {
      if (silent.has(host)) return
      silent.add(host)
      changed()
    },
    noteResponsive: host => {
      if (silent.delete(host)) changed()
    },
    noteFasterWithout: host => {
      if (silent.has(host) || host === doubted) return
      const { times: before, last } = blamed.get(host) ?? { times: 0, last: 0 }
      const times = now() - last < BLAME_MS ? before + 1 : 1
      blamed.set(host, { times, last: now() })
      if (times < BLAMED_AT) return
      doubted = host
      changed()
    },
    clearDoubt: () => {
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
