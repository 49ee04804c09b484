import type { Proved } from './proved.ts'

/** How far the chain is stored and published, and what was known of the node then. Answers are true at `height`. */
export type Published = {
  readonly height: number
  readonly hash: string
  /** Time of that block, nanoseconds since 1970. */
  readonly time: bigint
  /** The node's last irreversible block when this was written. */
  readonly lib: number
  /** How far the blocks up to it were proved; absent in what older versions wrote. */
  readonly proved?: Proved
}

/** Which chain is stored, by what rules. */
export type Identity = {
  readonly chainId: number
  readonly genesis: string
  /** `DERIVATION` of the loader that began it. */
  readonly derivation: number
}
