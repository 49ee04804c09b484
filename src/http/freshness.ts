import { BEHIND } from '#actions/find/loading.ts'
import type { Unfit } from '#node/chain-info.ts'
import type { Node } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'

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
  readonly node: 'none' | 'reachable' | 'unreachable' | Unfit['is']
  /** The reason, when the node is on another chain or branch. */
  readonly unfit: Unfit | undefined
  /** Time of the last answer of a node of the chain, milliseconds since 1970. */
  readonly reportedAt: number | null
  /** Whether the load is so far behind that answers may lack existing data. */
  readonly isFarBehind: boolean
}

/** Tolerated clock skew, milliseconds. */
const SKEW_MS = 10_000

/** The freshness from data in memory, without a request to a node. */
export const freshnessOf = (
  at: Published,
  node: Pick<Node, 'lastInfo' | 'reportAgeMs' | 'whyUnfit'> | undefined,
  clock: Pick<Clock, 'now'>,
): Freshness => {
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
    behindSeconds: info === undefined ? null : secondsBetween(at, info),
    lagSeconds: ageMs < -SKEW_MS ? null : Math.max(0, ageMs) / 1_000,
    node: node === undefined ? 'none' : (unfit?.is ?? (reported === undefined ? 'unreachable' : 'reachable')),
    unfit,
    reportedAt: agoMs === undefined ? null : clock.now() - agoMs,
    isFarBehind: behind > BEHIND,
  }
}

const secondsBetween = (
  at: Published,
  { libBlock, libTime }: { readonly libBlock: number; readonly libTime: bigint },
): number => (libBlock <= at.height || libTime <= at.time ? 0 : Number((libTime - at.time) / 1_000_000n) / 1_000)
