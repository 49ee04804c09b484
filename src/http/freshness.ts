import { BEHIND } from '#actions/find/loading.ts'
import type { Unfit } from '#node/chain-info.ts'
import type { Node } from '#node/port.ts'
import type { Published } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'

/** How near what is published is to the end of the chain. null: nobody knows. */
export type Freshness = {
  /** The last irreversible block: the node's, or what was known of it when the last block was loaded. */
  readonly lib: number
  /** Irreversible blocks that are not loaded yet, by a node that was heard lately. */
  readonly behind: number | null
  /** Seconds of the chain's time between the last loaded block and the node's last irreversible one. */
  readonly behindSeconds: number | null
  /** Age of the last loaded block by this machine's clock, seconds; null: the clock is before that block. */
  readonly lagSeconds: number | null
  /** `foreign`, `apart`: what responds is of another chain, or on another branch, than what is stored. */
  readonly node: 'none' | 'reachable' | 'unreachable' | Unfit['is']
  /** Why the node is not usable then. */
  readonly unfit: Unfit | undefined
  /** When a node of the chain was last heard, milliseconds since 1970. */
  readonly heardAt: number | null
  /** Loading has fallen so far behind that answers may lack what exists. */
  readonly isFarBehind: boolean
}

/** How far a clock may be off, milliseconds. */
const SKEW_MS = 10_000

/** The freshness as it is known at this moment; asks nobody. */
export const freshnessOf = (
  at: Published,
  node: Pick<Node, 'heard' | 'heardAgo' | 'whyUnfit'> | undefined,
  clock: Pick<Clock, 'now'>,
): Freshness => {
  const heard = node?.heard()
  const unfit = heard === undefined ? node?.whyUnfit() : undefined
  // A node that far behind the store knows as little of the chain's end as one that is silent.
  const info = heard !== undefined && heard.libBlock < at.height - BEHIND ? undefined : heard
  const lib = Math.max(at.lib, info?.libBlock ?? 0)
  const behind = Math.max(0, lib - at.height)
  const ageMs = clock.now() - Number(at.time / 1_000_000n)
  const agoMs = node?.heardAgo()
  return {
    lib,
    behind: info === undefined ? null : behind,
    behindSeconds: info === undefined ? null : secondsBetween(at, info),
    lagSeconds: ageMs < -SKEW_MS ? null : Math.max(0, ageMs) / 1_000,
    node: node === undefined ? 'none' : (unfit?.is ?? (heard === undefined ? 'unreachable' : 'reachable')),
    unfit,
    heardAt: agoMs === undefined ? null : clock.now() - agoMs,
    isFarBehind: behind > BEHIND,
  }
}

const secondsBetween = (
  at: Published,
  { libBlock, libTime }: { readonly libBlock: number; readonly libTime: bigint },
): number =>
  libBlock <= at.height || libTime <= at.time ? 0 : Number((libTime - at.time) / 1_000_000n) / 1_000
