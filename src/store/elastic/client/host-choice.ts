/** Number of late reads blamed on a host before it is left out. */
const BLAMED_AT = 2
/** Time after which blame is forgotten, milliseconds. */
const BLAME_MS = 10_000

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

  /** The next host in turn among those of `usable`. */
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

  /** Reports that the host did not answer a request or a probe. */
  noteSilent(host: T): void {
    if (this.silent.has(host)) return
    this.silent.add(host)
    this.changed()
  }

  /** Reports that the host answered a probe in time. */
  noteResponsive(host: T): void {
    if (this.silent.delete(host)) this.changed()
  }

  /** Reports that a late read was answered as soon as it was sent without this host. */
  noteFasterWithout(host: T): void {
    if (this.silent.has(host) || host === this.doubted) return
    const { times: before, last } = this.blamed.get(host) ?? { times: 0, last: 0 }
    const times = this.now() - last < BLAME_MS ? before + 1 : 1
    this.blamed.set(host, { times, last: this.now() })
    if (times < BLAMED_AT) return
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
