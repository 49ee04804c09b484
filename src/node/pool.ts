import { Failure } from '#failure/failure.ts'
import type { Clock } from '#time/clock.ts'
import { type Backoff, backoffMs } from '#time/retry.ts'
import type { Endpoint } from './http.ts'
import type { ChainIdentity, ChainInfo, Node, Unfit } from './port.ts'

/** The stored chain, for comparison with a node. */
export type StoredChain = {
  readonly identity: ChainIdentity
  /** The last stored block. */
  readonly last: { readonly height: number; readonly hash: string }
  /** The hash of the stored block at a height; undefined: there is none, or the store does not answer. */
  readonly hashAt: (height: number) => Promise<string | undefined>
}

/** The result of comparing a node with a store. */
export type Verdict =
  /** The node has the last stored block. */
  | { readonly is: 'fit' }
  /**
   * The node's last irreversible block is below the last stored one, and does not contradict the stored one
   * at its height.
   */
  | { readonly is: 'behind' }
  /** The node does not return an irreversible block that it must have. */
  | { readonly is: 'lacks'; readonly height: number }
  | Unfit

/**
 * Compares a node with a store: first by chain id and first block, then by the block at the highest height
 * that is irreversible at both. The hash of a block covers all blocks before it, so one height is enough. `blockHash`:
 * the hash of the node's irreversible block at a height; undefined: it has none.
 */
export async function judgeNode(
  {
    chainId,
    libBlock,
    blockHash,
  }: Pick<ChainInfo, 'chainId' | 'libBlock'> & { blockHash(height: number): Promise<string | undefined> },
  { identity, last, hashAt }: StoredChain,
): Promise<Verdict> {
  const genesis = await blockHash(0)
  const why = describeForeign(identity, { chainId, genesis })
  if (why !== undefined) return { is: 'foreign', why }
  if (genesis === undefined) return { is: 'lacks', height: 0 }
  const height = Math.min(libBlock, last.height)
  const stored = height === last.height ? last.hash : await hashAt(height)
  const there = await blockHash(height)
  if (there === undefined) return { is: 'lacks', height }
  if (stored !== undefined && stored !== there) return { is: 'apart', height, stored, there }
  return { is: libBlock < last.height ? 'behind' : 'fit' }
}

/** A node's chain, identified by its first block. Throws 'unavailable' when the node has no such block. */
export async function fetchChain(
  node: Pick<Node, 'name' | 'chainInfo' | 'blockHash'>,
  signal: AbortSignal,
): Promise<ChainInfo & ChainIdentity> {
  const info = await node.chainInfo(signal)
  const genesis = await node.blockHash(0, signal)
  if (genesis === undefined)
    throw new Failure('unavailable', `The node ${node.name} has no irreversible block 0.`, {
      help: 'Use a node that has the whole chain.',
    })
  return { ...info, genesis }
}

/** Like `fetchChain`; throws 'conflict' when the chain is not the stored one. */
export async function requireChain(
  node: Pick<Node, 'name' | 'chainInfo' | 'blockHash'>,
  stored: ChainIdentity,
  signal: AbortSignal,
): Promise<ChainInfo & ChainIdentity> {
  const served = await fetchChain(node, signal)
  const why = describeForeign(stored, served)
  if (why === undefined) return served
  const foreign = { is: 'foreign', why } as const
  throw new Failure('conflict', `${unfitText(foreign, node.name)}.`, { help: unfitHelp(foreign, node.name) })
}

/** The reason why a node serves another chain than ours, as far as both are known; undefined: it does not. */
export function describeForeign(
  ours: Partial<ChainIdentity>,
  its: { readonly chainId: number; readonly genesis: string | undefined },
): string | undefined {
  if (ours.chainId !== undefined && its.chainId !== ours.chainId) return `chain ${its.chainId}, not ${ours.chainId}`
  if (ours.genesis !== undefined && its.genesis !== undefined && its.genesis !== ours.genesis)
    return `genesis block ${its.genesis}, not ${ours.genesis}`
  return undefined
}

/** Describes an unfit node, without the final full stop; `name`: the node's name, or `the node`. */
export const unfitText = (unfit: Unfit, name: string): string =>
  unfit.is === 'foreign'
    ? `${name.replace(/^the node$/, 'The node')} serves another chain than the store holds: ${unfit.why}`
    : `Block ${unfit.height} is ${unfit.stored} in the store and ${unfit.there} at ${name}`

/** Describes a node that does not return a block. */
export const lacksText = ({ height }: Extract<Verdict, { is: 'lacks' }>, name: string): string =>
  `Block ${height} is stored, and ${name} has no irreversible block of that height`

/** Suggests a remedy for an unfit node. */
export const unfitHelp = ({ is }: Unfit, name: string): string =>
  is === 'foreign'
    ? 'Set --node to a node of the stored chain, or --store to another store.'
    : `If the node is right, run: 'iostlens repair --node ${name}'. If it is wrong, set another one with --node.`

/** A node and its known health. */
export type Member = {
  readonly endpoint: Endpoint
  /** Its last accepted chain info and the time of that; undefined: none, or none since it became silent. */
  report: { readonly info: ChainInfo; readonly at: number } | undefined
  /** A report too far from the last accepted one to be accepted at once. */
  claim: ChainInfo | undefined
  /** Its last irreversible block in the last accepted report; −1: none. */
  lib: number
  /** Duration of the last probe that it answered, in milliseconds. */
  probeMs: number
  /** Hash of its first block; undefined: not known yet, or not since the node became silent. */
  genesis: string | undefined
  /** Number of consecutive failures. */
  failures: number
  /** The loader prefers other nodes until this time. */
  backoffUntil: number
  /** Requests go to other nodes, if there are any, until this time. */
  shunnedUntil: number
  /** The reason why the last probe got no usable answer; undefined: it got one, or there was none yet. */
  silent: string | undefined
  /** The reason why it serves another chain, for which it is never asked: `chain 1024, not 1020`. */
  foreign: string | undefined
  /** The branch other than the stored one that it is on; no request is passed on to it. */
  apart: Extract<Unfit, { is: 'apart' }> | undefined
}

/** The nodes of one chain, and the choice of the next one to ask. */
export type NodePool = {
  readonly members: readonly Member[]
  /**
   * The best node that is not in `without`: `first`, if it answers and does not rest. Otherwise the order is:
   * not silent, not on another branch, shortest rest, highest irreversible block, order given. With `isUrgent`, the
   * first node of `ready` that is not far behind.
   */
  pick(
    without: ReadonlySet<Member>,
    options: { readonly first?: Member | undefined; readonly isUrgent: boolean },
  ): Member | undefined
  /**
   * Nodes that answer, best first: none that is known to be silent, unproven, of another chain or on another branch.
   */
  ready(): readonly Member[]
  noteSuccess(member: Member): void
  /** Makes a node rest, longer after each consecutive failure, at least `atLeastMs`. */
  noteFailure(member: Member, atLeastMs?: number): void
  /** Records a failed request: other nodes are preferred for a moment. */
  shun(member: Member): void
  /** Records a node's chain info; false: the node serves another chain than ours. */
  noteInfo(member: Member, info: ChainInfo): boolean
  /** Sets our chain to the stored one; nodes of other chains are refused from now on. */
  expect(chain: ChainIdentity): void
  /** Set when nodes are probed: from then on only nodes with an accepted report are `ready`. */
  watched: boolean
  /** The highest head that was reported lately, and the time of the report. */
  head: { readonly height: number; readonly at: number }
  /** Time of the last accepted report of a node of our chain; undefined: none yet. */
  reportedAt: number | undefined
  /** Height of the last stored block at the last probe; −1: none. */
  storedHeight: number
  /** Highest head that any node of our chain reported in the last minute; −1: none. */
  highestHead(): number
}

/**
 * Maximum lag of a node that gets requests, in blocks behind the best node or the store: two and a half
 * minutes of the chain. A node further behind would return older account data than the service itself.
 */
const LAG = 300
/** Blocks by which a node's report may jump between two probes; a larger jump is accepted when it is reported twice. */
const JUMP = 5_000
/** Milliseconds without requests to a node that failed one: about as long as a probe takes to check it. */
const SHUN_MS = 3_000
/** Time after which a head that no node repeats expires: one absurd report must not count for ever. */
const HEAD_KEPT_MS = 60_000
/** Nodes whose answers take the same number of these steps count as equally fast. */
const SPEED_STEP_MS = 250

/** A member before its first answer. */
const FRESH: Omit<Member, 'endpoint'> = {
  report: undefined,
  claim: undefined,
  lib: -1,
  probeMs: 0,
  genesis: undefined,
  failures: 0,
  backoffUntil: 0,
  shunnedUntil: 0,
  silent: undefined,
  foreign: undefined,
  apart: undefined,
}

export function createNodePool(endpoints: readonly Endpoint[], clock: Clock): NodePool {
  const members = endpoints.map((endpoint): Member => ({ endpoint, ...FRESH }))
  /** Until something is stored: the chain of the first node that answered, as long as that one answers. */
  let ours: Partial<ChainIdentity> = {}
  let stored = false
  const judgeMember = (member: Member, chainId: number): boolean => {
    member.foreign = describeForeign(ours, { chainId, genesis: member.genesis })
    return member.foreign === undefined
  }
  const pool: NodePool = {
    members,
    watched: false,
    head: { height: -1, at: 0 },
    reportedAt: undefined,
    storedHeight: -1,
    pick: (without, { first, isUrgent }) => {
      if (isUrgent) return usableMembers(pool).find(member => !without.has(member))
      const now = clock.elapsed()
      const able = members.filter(member => !without.has(member) && member.foreign === undefined)
      return able.find(each => each === first && isAvailable(each, now)) ?? able.toSorted(compareByRest(now))[0]
    },
    ready: () => members.filter(member => isReady(pool, member)).toSorted(compareByUse(clock.elapsed())),
    noteSuccess: member => {
      member.failures = 0
      member.backoffUntil = 0
    },
    noteFailure: (member, atLeastMs = 0) => {
      const now = clock.elapsed()
      // Several requests in flight fail together, which counts as one failure.
      if (member.backoffUntil > now) return
      member.failures += 1
      member.backoffUntil = now + Math.max(atLeastMs, backoffMs(BACKOFF, member.failures, clock.random()))
    },
    shun: member => {
      member.shunnedUntil = clock.elapsed() + SHUN_MS
    },
    noteInfo: (member, info) => {
      const first = members.find(other => other !== member && other.report !== undefined && other.foreign === undefined)
      if (!stored) ours = { chainId: first?.report?.info.chainId ?? info.chainId }
      if (!judgeMember(member, info.chainId)) {
        member.report = undefined
        return false
      }
      if (!isBelievable(member, info)) {
        member.claim = info
        return true
      }
      adoptReport(pool, member, { info, at: clock.elapsed() })
      return true
    },
    expect: chain => {
      ours = chain
      stored = true
      for (const member of members) if (member.report !== undefined) judgeMember(member, member.report.info.chainId)
    },
    highestHead: () => (clock.elapsed() - pool.head.at > HEAD_KEPT_MS ? -1 : pool.head.height),
  }
  return pool
}

function adoptReport(pool: NodePool, member: Member, report: NonNullable<Member['report']>): void {
  const { info, at } = report
  member.claim = undefined
  member.report = report
  pool.reportedAt = at
  member.lib = info.libBlock
  if (info.headBlock >= pool.head.height || at - pool.head.at > HEAD_KEPT_MS) pool.head = { height: info.headBlock, at }
}

/** The reason why no node can be asked though one answers: another chain or branch; undefined: no such reason. */
export function findUnfit(pool: NodePool): (Unfit & { readonly node: string }) | undefined {
  if (pool.ready().length > 0) return undefined
  const apart = pool.members.find(member => member.apart !== undefined)
  if (apart?.apart !== undefined) return { ...apart.apart, node: apart.endpoint.name }
  const other = pool.members.find(({ foreign }) => foreign !== undefined)
  return other?.foreign === undefined ? undefined : { is: 'foreign', why: other.foreign, node: other.endpoint.name }
}

/** The nodes to which a caller's request may be passed on now, best first. */
export const usableMembers = (pool: NodePool): readonly Member[] =>
  pool.ready().filter(member => explainLag(pool, member) === undefined)

/** The reason why a node is too far behind to get requests; undefined: it is not. */
export function explainLag(pool: NodePool, { lib }: Member): string | undefined {
  const best = Math.max(pool.storedHeight, ...pool.ready().map(other => other.lib))
  return lib >= best - LAG ? undefined : `its last irreversible block ${lib} is far behind block ${best}`
}

/** Whether a node of our chain answers, is on our branch and does not rest, as far as is known. */
export const isAvailable = ({ foreign, apart, silent, backoffUntil }: Member, now: number): boolean =>
  foreign === undefined && apart === undefined && silent === undefined && backoffUntil <= now

/** Accepts a node's first report, a report near the last one, and a report that is given twice. */
function isBelievable({ report, claim }: Member, { libBlock, headBlock }: ChainInfo): boolean {
  const near = (before: ChainInfo): boolean =>
    Math.abs(libBlock - before.libBlock) <= JUMP && Math.abs(headBlock - before.headBlock) <= JUMP
  return report === undefined || near(report.info) || (claim !== undefined && near(claim))
}

function isReady({ watched }: NodePool, { foreign, apart, silent, report, genesis }: Member): boolean {
  if (foreign !== undefined || apart !== undefined || silent !== undefined) return false
  return !watched || (report !== undefined && genesis !== undefined)
}

const compareByRest =
  (now: number) =>
  (a: Member, b: Member): number =>
    Number(a.silent !== undefined) - Number(b.silent !== undefined) ||
    Number(a.apart !== undefined) - Number(b.apart !== undefined) ||
    Math.max(0, a.backoffUntil - now) - Math.max(0, b.backoffUntil - now) ||
    b.lib - a.lib

const compareByUse =
  (now: number) =>
  (a: Member, b: Member): number =>
    Number(a.shunnedUntil > now) - Number(b.shunnedUntil > now) ||
    b.lib - a.lib ||
    Math.floor(a.probeMs / SPEED_STEP_MS) - Math.floor(b.probeMs / SPEED_STEP_MS)

/** Rest periods of a node that does not answer: long enough to spare it, short enough to see its return. */
export const BACKOFF: Backoff = { firstMs: 250, longestMs: 10_000 }
