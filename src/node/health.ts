import type { Member, Pool } from './pool.ts'

type Found = 'lib' | 'probeMs' | 'genesis' | 'silent' | 'foreign' | 'apart'

/**
 * What probes have found out about the nodes, in the order in which they are given: for another thread, which asks them
 * but does not probe them. Threads have no common clock, so moments are ages in milliseconds.
 */
export type Health = {
  readonly members: readonly (Readonly<Pick<Member, Found>> & { readonly heard: Aged<Member['heard']> })[]
  readonly head: Aged<Pool['head']>
  readonly storedHeight: number
  /** How long ago one of them was last believed; undefined: never. */
  readonly heardAgeMs: number | undefined
}

type Aged<T> = T extends { readonly at: number } ? Omit<T, 'at'> & { readonly ageMs: number } : T

/** The health of a pool's nodes now. */
export const healthOf = ({ members, head, heardAt, storedHeight }: Pool, now: number): Health => ({
  members: members.map(({ lib, probeMs, genesis, silent, foreign, apart, heard }) => ({
    ...{ lib, probeMs, genesis, silent, foreign, apart },
    heard: heard === undefined ? undefined : { info: heard.info, ageMs: now - heard.at },
  })),
  head: { height: head.height, ageMs: now - head.at },
  storedHeight,
  heardAgeMs: heardAt === undefined ? undefined : now - heardAt,
})

/** Takes over what another thread found out about the same nodes. What this thread met itself with requests stays. */
export const takeOverHealth = (
  pool: Pool,
  { members, head, storedHeight, heardAgeMs }: Health,
  now: number,
): void => {
  pool.watched = true
  pool.storedHeight = storedHeight
  pool.heardAt = heardAgeMs === undefined ? undefined : now - heardAgeMs
  pool.head = newer(pool.head, { height: head.height, at: now - head.ageMs })
  for (const [at, { heard, ...found }] of members.entries()) {
    const member = pool.members[at]
    if (member === undefined) continue
    Object.assign(member, found)
    member.heard =
      heard === undefined ? undefined : newer(member.heard, { info: heard.info, at: now - heard.ageMs })
  }
}

/** What this thread has found out itself since (`looksAgain`) is not taken back. */
const newer = <T extends { readonly at: number }>(own: T | undefined, taken: T): T =>
  own !== undefined && own.at > taken.at ? own : taken
