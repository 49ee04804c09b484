import { backoffMs, type Clock } from './clock.ts'
import type { Endpoint } from './endpoint.ts'
import type { ChainInfo } from './port.ts'

/** A node and what is known of its health. */
export type Member = {
  readonly endpoint: Endpoint
  /** Its last irreversible block when last asked; −1: never. */
  lib: number
  /** Failures in a row. */
  failures: number
  /** Not asked before this moment while another one can be. */
  restUntil: number
  /** Follows another chain than the first node that answered: never asked again. */
  foreign: boolean
}

/** The nodes of one chain: who is asked next. */
export type Pool = {
  readonly members: readonly Member[]
  /** Best node that is not in `without`: one that does not rest, then the highest irreversible block, then order given. */
  pick(without: ReadonlySet<Member>): Member | undefined
  succeeded(member: Member): void
  /** Lets a node rest: after each failure in a row longer, at least `atLeastMs`. */
  failed(member: Member, atLeastMs?: number): void
  /** Notes where a node stands; false: it is of another chain than the first one that answered. */
  stands(member: Member, info: ChainInfo): boolean
}

export const createPool = (endpoints: readonly Endpoint[], clock: Clock): Pool => {
  const members: readonly Member[] = endpoints.map(endpoint => ({
    endpoint,
    lib: -1,
    failures: 0,
    restUntil: 0,
    foreign: false,
  }))
  let chainId: number | undefined
  const better = (now: number) => (a: Member, b: Member) => {
    const rest = Math.max(0, a.restUntil - now) - Math.max(0, b.restUntil - now)
    return rest !== 0 ? rest : b.lib - a.lib
  }
  return {
    members,
    pick: without =>
      members.filter(member => !without.has(member) && !member.foreign).toSorted(better(clock.now()))[0],
    succeeded: member => {
      member.failures = 0
      member.restUntil = 0
    },
    failed: (member, atLeastMs = 0) => {
      const now = clock.now()
      // Several requests in flight fail together: that is one failure.
      if (member.restUntil > now) return
      member.failures += 1
      member.restUntil = now + Math.max(atLeastMs, backoffMs(member.failures, clock.random()))
    },
    stands: (member, info) => {
      chainId ??= info.chainId
      member.foreign = info.chainId !== chainId
      member.lib = info.libBlock
      return !member.foreign
    },
  }
}
