import type { Member, Pool } from './pool.ts'

type Found = 'lib' | 'probeMs' | 'genesis' | 'silent' | 'foreign' | 'apart'

/**
 * Results of probes, in the given order of nodes, for a thread that sends requests to the nodes but does not
 * probe them. Threads have no common clock, so times are ages in milliseconds.
 */
export type Health = {
  readonly members: readonly (Readonly<Pick<Member, Found>> & { readonly report: Aged<Member['report']> })[]
  readonly head: Aged<Pool['head']>
  readonly storedHeight: number
  /** Age of the last accepted report of any node; undefined: there was none. */
  readonly reportAgeMs: number | undefined
}

type Aged<T> = T extends { readonly at: number } ? Omit<T, 'at'> & { readonly ageMs: number } : T

/** The current health of a pool's nodes. */
export const healthOf = ({ members, head, reportedAt, storedHeight }: Pool, now: number): Health => ({
  members: members.map(({ lib, probeMs, genesis, silent, foreign, apart, report }) => ({
    ...{ lib, probeMs, genesis, silent, foreign, apart },
    report: report === undefined ? undefined : { info: report.info, ageMs: now - report.at },
  })),
  head: { height: head.height, ageMs: now - head.at },
  storedHeight,
  reportAgeMs: reportedAt === undefined ? undefined : now - reportedAt,
})

/** Applies another thread's probe results for the same nodes; failures of this thread's requests remain. */
export const takeOverHealth = (pool: Pool, { members, head, storedHeight, reportAgeMs }: Health, now: number): void => {
  pool.watched = true
  pool.storedHeight = storedHeight
  pool.reportedAt = reportAgeMs === undefined ? undefined : now - reportAgeMs
  pool.head = newer(pool.head, { height: head.height, at: now - head.ageMs })
  for (const [at, { report, ...found }] of members.entries()) {
    const member = pool.members[at]
    if (member === undefined) continue
    Object.assign(member, found)
    member.report =
      report === undefined ? undefined : newer(member.report, { info: report.info, at: now - report.ageMs })
  }
}

/** Keeps results that this thread has obtained itself since then (`heightRefresher`). */
const newer = <T extends { readonly at: number }>(own: T | undefined, taken: T): T =>
  own !== undefined && own.at > taken.at ? own : taken
