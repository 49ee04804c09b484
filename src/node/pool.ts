import { type Backoff, backoffMs } from '#time/backoff.ts'
import type { Clock } from '#time/clock.ts'
import type { ChainIdentity, ChainInfo, Unfit } from './chain-info.ts'
import type { Endpoint } from './endpoint.ts'
import { whyForeign } from './judge.ts'

/** A node and what is known of its health. */
export type Member = {
  readonly endpoint: Endpoint
  /** Its last accepted chain info, and when that came; undefined: never heard, or not since it fell silent. */
  heard: { readonly info: ChainInfo; readonly at: number } | undefined
  /** A claim that is too far from what it said before to be taken at its first word. */
  claim: ChainInfo | undefined
  /** Its last irreversible block when last believed; −1: never. */
  lib: number
  /** How long its last answer to a probe took. */
  probeMs: number
  /** Hash of its first block; undefined: not asked yet, or not since it fell silent. */
  genesis: string | undefined
  /** Failures in a row. */
  failures: number
  /** The loader does not ask it before this moment while another one can be asked. */
  restUntil: number
  /** Requests go to another node before this moment if there is one. */
  shunnedUntil: number
  /** Why the last probe had no answer that can be used; undefined: it had one, or there was none yet. */
  silent: string | undefined
  /** Why it is of another chain, and never asked: `chain 1024, not 1020`. */
  foreign: string | undefined
  /** Which other branch than the stored one it is on: no request is passed on to it. */
  apart: Extract<Unfit, { is: 'apart' }> | undefined
}

/** The nodes of one chain: who is asked next. */
export type Pool = {
  readonly members: readonly Member[]
  /**
   * Best node that is not in `without`: `first`, if it answers and does not rest; else one that is not on another branch,
   * does not rest, then the highest irreversible block, then order given.
   */
  pick(without: ReadonlySet<Member>, first?: Member): Member | undefined
  /** Nodes that answer, best first: none that is known to be silent, unproven, of another chain or on another branch. */
  ready(): readonly Member[]
  succeeded(member: Member): void
  /** Lets a node rest: after each failure in a row longer, at least `atLeastMs`. */
  failed(member: Member, atLeastMs?: number): void
  /** A request met a failure: for a moment the others come first. */
  shun(member: Member): void
  /** Notes a node's chain info; false: the node serves another chain than ours. */
  noteInfo(member: Member, info: ChainInfo): boolean
  /** The chain that is ours from now on, by what is stored; nodes of others are refused. */
  expect(chain: ChainIdentity): void
  /** From now on only nodes that a probe has heard are `ready`. */
  watched: boolean
  /** The highest head that was noted lately, and when. */
  head: { readonly height: number; readonly at: number }
  /** When a node of our chain was last believed; undefined: never. */
  heardAt: number | undefined
  /** The last block that is stored, as far as a probe has looked; −1: none. */
  storedHeight: number
  /** Highest head that any node of our chain reported in the last minute; −1: none. */
  highestHead(): number
}

/**
 * Blocks that a node may be behind the best one, or behind the store, before it is asked nothing: two and a half minutes
 * of the chain. What it says of accounts would be older than what the service itself answers.
 */
const LAG = 300
/** Blocks a node's word may jump between two probes; more is believed when it is said twice. */
const JUMP = 5_000
/** A node that failed a request is left aside for as long as the probe takes to find out what it has. */
const SHUN_MS = 3_000
/** A head that no node repeats is forgotten, so that one absurd report does not count against the others for ever. */
const HEAD_KEPT_MS = 60_000
/** Nodes that answer within the same step of time are equally fast. */
const SPEED_STEP_MS = 250

export const createPool = (endpoints: readonly Endpoint[], clock: Clock): Pool => {
  const members = endpoints.map(newMember)
  /** While nothing is stored it is the chain of the node that answered first, as long as that one answers. */
  let ours: Partial<ChainIdentity> = {}
  let stored = false
  const judge = (member: Member, chainId: number): boolean => {
    member.foreign = whyForeign(ours, { chainId, genesis: member.genesis })
    return member.foreign === undefined
  }
  const pool: Pool = {
    members,
    watched: false,
    head: { height: -1, at: 0 },
    heardAt: undefined,
    storedHeight: -1,
    pick: (without, first) => {
      const now = clock.elapsed()
      const able = members.filter(member => !without.has(member) && member.foreign === undefined)
      return able.find(each => each === first && isAwake(each, now)) ?? able.toSorted(byRest(now))[0]
    },
    ready: () => members.filter(isReady(pool)).toSorted(byUse(clock.elapsed())),
    succeeded: member => {
      member.failures = 0
      member.restUntil = 0
    },
    failed: (member, atLeastMs = 0) => {
      const now = clock.elapsed()
      // Several requests in flight fail together: that is one failure.
      if (member.restUntil > now) return
      member.failures += 1
      member.restUntil = now + Math.max(atLeastMs, backoffMs(REST, member.failures, clock.random()))
    },
    shun: member => {
      member.shunnedUntil = clock.elapsed() + SHUN_MS
    },
    noteInfo: (member, info) => {
      const first = members.find(
        other => other !== member && other.heard !== undefined && other.foreign === undefined,
      )
      if (!stored) ours = { chainId: first?.heard?.info.chainId ?? info.chainId }
      if (!judge(member, info.chainId)) {
        member.heard = undefined
        return false
      }
      if (!believed(member, info)) {
        member.claim = info
        return true
      }
      believe(pool, member, { info, at: clock.elapsed() })
      return true
    },
    expect: chain => {
      ours = chain
      stored = true
      for (const member of members) if (member.heard !== undefined) judge(member, member.heard.info.chainId)
    },
    highestHead: () => (clock.elapsed() - pool.head.at > HEAD_KEPT_MS ? -1 : pool.head.height),
  }
  return pool
}

const believe = (pool: Pool, member: Member, heard: NonNullable<Member['heard']>): void => {
  const { info, at } = heard
  member.claim = undefined
  member.heard = heard
  pool.heardAt = at
  member.lib = info.libBlock
  if (info.headBlock >= pool.head.height || at - pool.head.at > HEAD_KEPT_MS)
    pool.head = { height: info.headBlock, at }
}

/** Why none of the nodes can be asked though one answers: it is not of what is stored. undefined: it is none of that. */
export const whyUnfit = (pool: Pool): (Unfit & { readonly node: string }) | undefined => {
  if (pool.ready().length > 0) return undefined
  const apart = pool.members.find(member => member.apart !== undefined)
  if (apart?.apart !== undefined) return { ...apart.apart, node: apart.endpoint.name }
  const other = pool.members.find(({ foreign }) => foreign !== undefined)
  return other?.foreign === undefined
    ? undefined
    : { is: 'foreign', why: other.foreign, node: other.endpoint.name }
}

/** Why a node is too far behind for requests to be passed on to it; undefined: it is not. */
export const whyBehind = (pool: Pool, { lib }: Member): string | undefined => {
  const best = Math.max(pool.storedHeight, ...pool.ready().map(other => other.lib))
  return lib >= best - LAG ? undefined : `its last irreversible block ${lib} is far behind block ${best}`
}

/** Whether a node of our chain answers, is on our branch and does not rest, as far as is known. */
export const isAwake = ({ foreign, apart, silent, restUntil }: Member, now: number): boolean =>
  foreign === undefined && apart === undefined && silent === undefined && restUntil <= now

const isReady =
  ({ watched }: Pick<Pool, 'watched'>) =>
  ({ foreign, apart, silent, heard, genesis }: Member): boolean =>
    foreign === undefined &&
    apart === undefined &&
    silent === undefined &&
    (!watched || (heard !== undefined && genesis !== undefined))

const newMember = (endpoint: Endpoint): Member => ({
  endpoint,
  heard: undefined,
  claim: undefined,
  lib: -1,
  probeMs: 0,
  genesis: undefined,
  failures: 0,
  restUntil: 0,
  shunnedUntil: 0,
  silent: undefined,
  foreign: undefined,
  apart: undefined,
})

/** Accepts a node's first report, a report near the last one, and a report that is given twice. */
const believed = ({ heard, claim }: Member, { libBlock, headBlock }: ChainInfo): boolean => {
  const near = (before: ChainInfo): boolean =>
    Math.abs(libBlock - before.libBlock) <= JUMP && Math.abs(headBlock - before.headBlock) <= JUMP
  return heard === undefined || near(heard.info) || (claim !== undefined && near(claim))
}

const byRest =
  (now: number) =>
  (a: Member, b: Member): number =>
    Number(a.silent !== undefined) - Number(b.silent !== undefined) ||
    Number(a.apart !== undefined) - Number(b.apart !== undefined) ||
    Math.max(0, a.restUntil - now) - Math.max(0, b.restUntil - now) ||
    b.lib - a.lib

const byUse =
  (now: number) =>
  (a: Member, b: Member): number =>
    Number(a.shunnedUntil > now) - Number(b.shunnedUntil > now) ||
    b.lib - a.lib ||
    Math.floor(a.probeMs / SPEED_STEP_MS) - Math.floor(b.probeMs / SPEED_STEP_MS)

/** Rests of a node that does not answer: long enough to spare it, short enough to notice its return. */
export const REST: Backoff = { firstMs: 250, longestMs: 10_000 }
