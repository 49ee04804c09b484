import { BEHIND } from '#actions/find/loading.ts'
import { Failure, type FailureKind } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import { AbsentStore } from '#store/absent-store.ts'
import type { Published } from '#store/port.ts'
import { requireServable, type ServedStore } from '#store/require-servable.ts'
import type { Clock } from '#time/clock.ts'
import { within } from '#time/deadline.ts'
import type { HttpCounts } from './counts.ts'

/** The node as it was last heard. */
type NodeReport = Pick<Node, 'lastInfo' | 'reportAgeMs' | 'whyUnfit'>

/** The health of a service. `/ready`, `/status` and the metrics print it; the command `status` prints its freshness. */
export type Health = {
  /** The last loaded block; undefined: nothing is loaded, or the store cannot be served from. */
  readonly published: Published | undefined
  /**
   * The reason why the store cannot be served from. Kind 'unavailable': it cannot be read; 'damaged': it has lost data;
   * 'conflict': it is of another version, or not a store; AbsentStore: there is none.
   */
  readonly failure: Failure | undefined
  /** Absent as long as nothing is loaded. */
  readonly fresh: Freshness | undefined
  /** Whether answers were refused because of damage. */
  readonly isDamageMet: boolean
  /** Whether a node is configured, and none responds. */
  readonly isNodeSilent: boolean
}

export type HealthFrom = {
  readonly store: ServedStore
  readonly node: NodeReport | undefined
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
  readonly counts: Pick<HttpCounts, 'damageMet'>
}

/** Minimum milliseconds between two reads of the store, since anyone may request the height. */
const KEPT_MS = 500
/** Time limit of a read: a slower store is too slow for any request. */
const STORE_MS = 1_000

/** Reads the health of a service; the published block is at most half a second old. */
export function watchHealth({ store, node, clock, counts }: HealthFrom): () => Promise<Health> {
  let kept: { readonly published: Promise<Published | undefined>; readonly until: number } | undefined
  return async () => {
    if (kept === undefined || clock.elapsed() >= kept.until)
      kept = { published: requireServable(store), until: clock.elapsed() + KEPT_MS }
    const late = () => new Failure('unavailable', `The store did not return its height within ${STORE_MS} ms.`)
    const found = await within(kept.published, { ms: STORE_MS, late }).catch(requireStoreFailure)
    const published = found instanceof Failure ? undefined : found
    return {
      published,
      failure: found instanceof Failure ? found : undefined,
      fresh: published && measureFreshness(published, node, clock),
      isDamageMet: counts.damageMet.read() > 0,
      isNodeSilent: node !== undefined && node.lastInfo() === undefined,
    }
  }
}

/** Whether the store can be read and passes the integrity checks made while serving. */
export function isWhole({ failure, published, isDamageMet }: Health): boolean {
  return failure === undefined && (published === undefined || !isDamageMet)
}

const OF_STORES: ReadonlySet<FailureKind> = new Set(['unavailable', 'damaged', 'conflict'])

function requireStoreFailure(error: unknown): Failure {
  if (error instanceof AbsentStore || (error instanceof Failure && OF_STORES.has(error.kind))) return error
  throw error
}

/** The fields of `/ready` and `/status` about the end of the store. null: unknown. */
export function listFreshFields(fresh: Freshness | undefined) {
  return {
    lib: fresh?.lib ?? null,
    behind: fresh?.behind ?? null,
    behind_seconds: fresh?.behindSeconds ?? null,
    lag_seconds: fresh?.lagSeconds ?? null,
    node: fresh?.node ?? null,
    node_heard: typeof fresh?.reportedAt === 'number' ? new Date(fresh.reportedAt).toISOString() : null,
  }
}

/** The distance between the published block and the end of the chain. null: unknown. */
export type Freshness = {
  /** The height of the last irreversible block: the node's, or the one known when the last block was loaded. */
  readonly lib: number
  /** Irreversible blocks that are not loaded yet, according to a node that answered recently. */
  readonly behind: number | null
  /** Seconds of the chain's time between the last loaded block and the node's last irreversible one. */
  readonly behindSeconds: number | null
  /**
   * Age of the last loaded block by this machine's clock, seconds; null: the clock is wrong, well before that block.
   */
  readonly lagSeconds: number | null
  /** `foreign`, `apart`: the responding node is of another chain, or on another branch, than the store. */
  readonly node: 'none' | 'reachable' | 'unreachable' | NonNullable<Freshness['unfit']>['is']
  /** The reason, when the node is on another chain or branch. */
  readonly unfit: ReturnType<Node['whyUnfit']>
  /** Time of the last answer of a node of the chain, milliseconds since 1970. */
  readonly reportedAt: number | null
  /** Whether the load is so far behind that answers may lack existing data. */
  readonly isFarBehind: boolean
}

/** Tolerated clock skew, milliseconds. */
const SKEW_MS = 10_000

/** The freshness from data in memory, without a request to a node. */
export function measureFreshness(at: Published, node: NodeReport | undefined, clock: Pick<Clock, 'now'>): Freshness {
  const reported = node?.lastInfo()
  const unfit = reported === undefined ? node?.whyUnfit() : undefined
  // A node that far behind the store knows no more of the chain's end than a silent one.
  const info = reported !== undefined && reported.libBlock < at.height - BEHIND ? undefined : reported
  const lib = Math.max(at.lib, info?.libBlock ?? 0)
  const behind = Math.max(0, lib - at.height)
  const ageMs = clock.now() - Number(at.time / 1_000_000n)
  const agoMs = node?.reportAgeMs()
  return {
    lib,
    behind: info === undefined ? null : behind,
    behindSeconds: info === undefined ? null : countLagSeconds(at, info),
    lagSeconds: ageMs < -SKEW_MS ? null : Math.max(0, ageMs) / 1_000,
    node: node === undefined ? 'none' : (unfit?.is ?? (reported === undefined ? 'unreachable' : 'reachable')),
    unfit,
    reportedAt: agoMs === undefined ? null : clock.now() - agoMs,
    isFarBehind: behind > BEHIND,
  }
}

function countLagSeconds(
  at: Published,
  { libBlock, libTime }: { readonly libBlock: number; readonly libTime: bigint },
): number {
  return libBlock <= at.height || libTime <= at.time ? 0 : Number((libTime - at.time) / 1_000_000n) / 1_000
}
