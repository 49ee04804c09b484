import { systemClock } from '#time/clock.ts'
import type { Answer, Request } from './connection.ts'
import { extraRequests } from './extra-requests.ts'
import { hostChoice } from './host-choice.ts'
import { hostHealth } from './host-health.ts'
import type { Sending } from './http-lines.ts'
import { type Job, openJobs, TooLate } from './jobs.ts'
import type { Host } from './one-host.ts'
import { hasNoCopy, onNodes } from './read-copies.ts'

/** A request and where it went. */
type Task = {
  readonly host: Host
  /** undefined: a probe. */
  readonly request: Request | undefined
  /** `HostChoice.changes` when it was last sent. */
  changes: number
  /** Hosts that it was sent without, beginning with its own. */
  triedWithout: number
}
type TaskJob = Job<Task, Answer>

/** A read is late after four times the usual time, within these bounds, milliseconds. */
const LATE_TIMES = 4
const LATE_MS = 200
const LATEST_MS = 2_000
/** After this time it is looked whether the host of a write still answers. */
const WRITE_LATE_MS = 1_000
/** How much a read counts in the usual time. */
const WEIGHT = 1 / 16

/** The hosts of a cluster as one: each request goes to one that answers, and a late read to another one, too. */
export const clusterHosts = (hosts: readonly Host[]) => {
  const choice = hostChoice(hosts, systemClock.elapsed)
  const extra = extraRequests()
  const jobs = openJobs<Task, Answer>((job, now) => onLate(job, now))
  let usualMs = 0
  /** The last read that was only answered without one of the hosts. */
  let telling: Request | undefined
  const lateMs = (): number => Math.min(LATEST_MS, Math.max(LATE_MS, LATE_TIMES * usualMs))

  /** By a host, from copies on the nodes of `among`. */
  const readBy = async (
    host: Host,
    request: Request,
    among: readonly Host[],
    sending: Sending,
  ): Promise<Answer> => {
    if (among.length === hosts.length) return host.read(request, sending)
    const [first, ...others] = onNodes(
      request,
      among.flatMap(({ node }) => node ?? []),
    )
    let answer = await host.read(first ?? request, sending)
    for (const other of others) {
      if (!hasNoCopy(answer.text)) break
      answer = await host.read(other, sending)
    }
    return answer
  }
  const probe = (host: Host, limitMs: number): Promise<boolean> =>
    host.probe(work =>
      jobs.run(newTask(host, undefined), { ms: limitMs, lateMs: Number.POSITIVE_INFINITY }, work),
    )
  /** Whether the read that was late before is answered in time by a host, and by another one from the copies of this. */
  const isInTime = async (host: Host): Promise<boolean> => {
    const request = telling
    if (request === undefined) return true
    const limits = { ms: lateMs(), lateMs: Number.POSITIVE_INFINITY }
    const ways = [
      [host, choice.usable()],
      [choice.next(), [host]],
    ] as const
    const answers = await Promise.all(
      ways.map(([by, among]) =>
        jobs
          .run(newTask(by, undefined), limits, job => readBy(by, request, among, job))
          .then(
            ({ status }) => isTelling(status),
            () => false,
          ),
      ),
    )
    return answers.every(Boolean)
  }
  const health = hostHealth(hosts, choice, { probe, readBy: isInTime, onDead: jobs.abandon }, systemClock)

  const newTask = (host: Host, request: Request | undefined): Task => ({
    host,
    request,
    changes: choice.changes,
    triedWithout: 0,
  })
  const onLate = (job: TaskJob, now: number): void => {
    const { request } = job.what
    const isRead = request !== undefined && isReading(request)
    job.lateAt = hosts.length === 1 ? Number.POSITIVE_INFINITY : now + (isRead ? lateMs() : WRITE_LATE_MS)
    health.round()
    if (isRead && hosts.length > 1) accompany(job, request)
  }
  /**
   * Sends a late read anew. If other hosts are left out by now than when it was sent, that is the reason to hope; else
   * each host in turn, its own first, is suspected to hold it up, as coordinator or with its copies, and gone round.
   */
  const accompany = (job: TaskJob, request: Request): void => {
    const task = job.what
    const isNews = task.changes !== choice.changes
    if ((!isNews && task.triedWithout >= hosts.length) || !extra.spend()) return
    task.changes = choice.changes
    const suspect = isNews
      ? undefined
      : hosts[(hosts.indexOf(task.host) + task.triedWithout++) % hosts.length]
    const among = choice.usable(suspect)
    const host = choice.next(suspect)
    jobs.accompany(job, sending => readBy(host, request, among, sending), {
      host,
      counts: ({ status }) => isTelling(status),
      onFirst: () => {
        if (suspect === undefined) return
        telling = request
        choice.helpedWithout(suspect)
        health.round()
      },
    })
  }
  const read = async (host: Host, request: Request, ms: number): Promise<Answer> => {
    const { signal } = request
    extra.earn()
    let own: TaskJob | undefined
    const answer = await jobs.run(newTask(host, request), { ms, lateMs: lateMs(), signal }, job => {
      own = job
      return readBy(host, request, choice.usable(), job)
    })
    if (own?.company === undefined) usualMs += (systemClock.elapsed() - (own?.since ?? 0) - usualMs) * WEIGHT
    return answer
  }
  return {
    /** The host that is next in turn. */
    next: (): Host => choice.next(),
    /** Sends to a host; a read may be answered by another one. Throws what `Host.send` throws, and `TooLate`. */
    send: async (host: Host, request: Request, ms: number): Promise<Answer> => {
      try {
        const answer = isReading(request)
          ? await read(host, request, ms)
          : await jobs.run(
              newTask(host, request),
              { ms, lateMs: WRITE_LATE_MS, signal: request.signal },
              job => host.send(request, job),
            )
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

const isReading = ({ isRead, method }: Request): boolean => isRead === true || method === 'GET'

/** Not overload, and not the trouble of one server. */
const isTelling = (status: number): boolean => status < 429
