/** The largest answer that a sound node gives to a call. */
export type AnswerSize = {
  readonly bytes: number
  /** Texts, opening brackets and commas (`measureJson`). */
  readonly parts: number
}

const KIB = 1024
const MIB = 1024 * KIB

/** Chain info: some thousand bytes, most of them names of producers. */
export const CHAIN_INFO_SIZE: AnswerSize = { bytes: 64 * KIB, parts: 10_000 }

/** A block without its transactions; its `info` lists those of the first years (`INFO` in `bounds.ts`), in two members. */
export const BARE_BLOCK_SIZE: AnswerSize = { bytes: MIB, parts: 100_000 }

/** A contract with its code, of which only genesis has more than 64 KiB. */
export const CONTRACT_SIZE: AnswerSize = { bytes: 8 * MIB, parts: 100_000 }

/** Several blocks. Ranges aim at 1 MiB, and one whose answer is larger is halved. */
export const RANGE_SIZE: AnswerSize = { bytes: 6 * MIB, parts: 600_000 }

/** A whole block, or a page of storage: a node answers with at most 4 MiB, six letters a byte (gRPC, `rpc/server.go`). */
export const BLOCK_SIZE: AnswerSize = { bytes: 32 * MIB, parts: 2_000_000 }
