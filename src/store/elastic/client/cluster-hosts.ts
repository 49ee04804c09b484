import { systemClock } from '#time/clock.ts'
import { extraRequests } from './extra-requests.ts'
import { type HostChoice, hostChoice } from './host-choice.ts'
import { type Examined, hostHealth } from './host-health.ts'
import type { Sending } from './http-lines.ts'
import { type Job, type Jobs, openJobs, TooLate } from './jobs.ts'
import type { Host } from './one-host.ts'
import { hasNoCopy, isReading, onNodes } from './read-copies.ts'
import type { Answer, Request } from './request.ts'

/** A request and where it went. */
type Task = {
  readonly host: Host
  /** undefined: one of our own. */
  readonly request: Request | undefined
  /** `HostChoice.changes` when it was last sent. */
  changes: number
  /** Hosts that it was sent without, beginning with its own. */
  triedWithout: number
}
type TaskJob = Job<Task, Answer>

/** What is known of the hosts of a cluster. */
type Known = {
  readonly hosts: readonly Host[]
  readonly choice: HostChoice<Host>
  readonly extra: ReturnType<typeof extraRequests>
  /** Usual time of a read, milliseconds. */
  usualMs: number
  /** The last read that was only answered without one of the hosts. */
  telling: Request | undefined
}

/** A read is late after four times the usual time, within these bounds, milliseconds. */
const LATE_TIMES = 4
const LATE_MS = 200
const LATEST_MS = 2_000
/** After this time it is looked whether the host of a write still answers. */
const WRITE_LATE_MS = 1_000
/** How much a read counts in the usual time. */
const WEIGHT = 1 / 16
const NEVER_MS = Number.POSITIVE_INFINITY

/** The hosts of a cluster as one: each request goes to one that answers, and a late read to another one, too. */
export const clusterHosts = (hosts: readonly Host[]) => {
  const choice = hostChoice(hosts, systemClock.elapsed)
  const extra = extraRequests(systemClock.elapsed)
  const known: Known = { hosts, choice, extra, usualMs: 0, telling: undefined }
  const onLate = (job: TaskJob, now: number): void => {
    const { request } = job.what
    const isRead = request !== undefined && isReading(request)
    job.lateAt = hosts.length === 1 ? NEVER_MS : now + (isRead ? lateMs(known) : WRITE_LATE_MS)
    health.round()
    if (isRead && hosts.length > 1) accompany(known, jobs, { job, examine: health.round })
  }
  const jobs = openJobs<Task, Answer>(onLate)
  const health = hostHealth({ hosts, choice, examined: examinedBy(known, jobs), clock: systemClock })
  const read = async (host: Host, request: Request, ms: number): Promise<Answer> => {
    extra.earn()
    let own: TaskJob | undefined
    const limits = { ms, lateMs: lateMs(known), signal: request.signal }
    const answer = await jobs.run(taskOf(known, host, request), limits, job => {
      own = job
      return readBy(known, { host, among: choice.usable(), sending: job }, request)
    })
    if (own !== undefined && own.company === undefined)
      known.usualMs += (systemClock.elapsed() - own.since - known.usualMs) * WEIGHT
    return answer
  }
  const write = (host: Host, request: Request, ms: number): Promise<Answer> => {
    const limits = { ms, lateMs: WRITE_LATE_MS, signal: request.signal }
    return jobs.run(taskOf(known, host, request), limits, job => host.send(request, job))
  }
  return {
    /** The host that is next in turn. */
    next: (): Host => choice.next(),
    /** Sends to a host; a read may be answered by another one. Throws what `Host.send` throws, and `TooLate`. */
    send: async (host: Host, request: Request, ms: number): Promise<Answer> => {
      try {
        const answer = await (isReading(request) ? read : write)(host, request, ms)
        // The node is starting or has lost its cluster; after 429 another host would be no better.
        if (answer.status >= 502 && answer.status <= 504) health.failed(host)
        return answer
      } catch (error) {
        if (error instanceof TooLate) health.round()
        else health.failed(host)
        throw error
      }
    },
    close: (): void => {
      health.close()
      jobs.endAll()
      for (const host of hosts) host.close()
    },
  }
}

const taskOf = ({ choice }: Known, host: Host, request?: Request): Task => ({
  host,
  request,
  changes: choice.changes,
  triedWithout: 0,
})

const lateMs = ({ usualMs }: Known): number => Math.min(LATEST_MS, Math.max(LATE_MS, LATE_TIMES * usualMs))

/** By way of a host, from copies on the nodes of `among`. */
type Way = { readonly host: Host; readonly among: readonly Host[] }

const readBy = async (
  { hosts }: Known,
  { host, among, sending }: Way & { readonly sending: Sending },
  request: Request,
): Promise<Answer> => {
  if (among.length === hosts.length) return host.read(request, sending)
  const [first = request, ...others] = onNodes(
    request,
    among.flatMap(({ node }) => node ?? []),
  )
  let answer = await host.read(first, sending)
  for (const other of others) {
    if (!hasNoCopy(answer.text)) break
    answer = await host.read(other, sending)
  }
  return answer
}

/**
 * Sends a late read anew. If other hosts are left out by now than when it was sent, that is the reason to hope; else each
 * host in turn, its own first, is suspected to hold it up, as coordinator or with its copies, and gone round.
 */
const accompany = (
  known: Known,
  jobs: Jobs<Task, Answer>,
  { job, examine }: { readonly job: TaskJob; readonly examine: () => void },
): void => {
  const { hosts, choice, extra } = known
  const task = job.what
  const { request } = task
  if (request === undefined) return
  const isNews = task.changes !== choice.changes
  if ((!isNews && task.triedWithout >= hosts.length) || !extra.spend()) return
  task.changes = choice.changes
  const suspect = isNews ? undefined : hosts[(hosts.indexOf(task.host) + task.triedWithout++) % hosts.length]
  const among = choice.usable(suspect)
  const host = choice.next(suspect)
  void jobs.accompany(job, sending => readBy(known, { host, among, sending }, request), {
    host,
    counts: ({ status }) => isTelling(status),
    onFirst: () => {
      if (suspect === undefined) return
      known.telling = request
      choice.helpedWithout(suspect)
      examine()
    },
  })
}

/** How the hosts are examined, by requests of our own. */
const examinedBy = (known: Known, jobs: Jobs<Task, Answer>): Examined<Host> => ({
  probe: (host, ms) => host.probe(work => jobs.run(taskOf(known, host), { ms, lateMs: NEVER_MS }, work)),
  readBy: async host => {
    const { telling, choice } = known
    if (telling === undefined) return true
    const isInTime = async (way: Way): Promise<boolean> => {
      try {
        const { status } = await jobs.run(
          taskOf(known, way.host),
          { ms: lateMs(known), lateMs: NEVER_MS },
          job => readBy(known, { ...way, sending: job }, telling),
        )
        return isTelling(status)
      } catch {
        return false
      }
    }
    const [asCoordinator, asCopy] = await Promise.all([
      isInTime({ host, among: choice.usable() }),
      isInTime({ host: choice.next(), among: [host] }),
    ])
    return asCoordinator && asCopy
  },
  onDead: jobs.abandon,
})

/** Not overload, and not the trouble of one server. */
const isTelling = (status: number): boolean => status < 429
