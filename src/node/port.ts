import type { ContractCode, LoadedBlock } from '#chain/block.ts'

/** Where the chain stands by a node's word. Times in nanoseconds since 1970. */
export type ChainInfo = {
  readonly chainId: number
  readonly netName: string
  readonly headBlock: number
  readonly headHash: string
  readonly headTime: bigint
  readonly libBlock: number
  readonly libHash: string
  readonly libTime: bigint
}

/** Rows of a page of storage: more are not given (go-iost rpc, ListContractStorage). */
export const STORAGE_PAGE = 100

/** A page of a contract's storage, as of one block. */
export type StoragePage = {
  readonly height: number
  readonly hash: string
  readonly rows: readonly (readonly [key: string, value: string])[]
}

/** A block or transaction above the last irreversible one, in the node's own JSON text. */
export type NodeAnswer = { readonly status: number; readonly contentType: string; readonly body: Uint8Array }

/**
 * Nodes of one chain over HTTP RPC. Every call has a time-out and a size limit, is retried with back-off where trying
 * again can help, and goes to the healthy node with the highest irreversible block. Failures: 'unavailable' (no node
 * answers), 'bad_block' (what is answered can not be true), 'deadline' (the caller's signal).
 */
export type Node = {
  /** URLs without credentials, for messages. */
  readonly name: string
  chainInfo(signal?: AbortSignal): Promise<ChainInfo>
  /**
   * Blocks `from` … `to` in order, each checked against itself and its parent (`parent` is the hash of block
   * `from` − 1, absent for genesis). Several requests are in flight; at most a bounded number of bytes is held.
   * What does not fit is asked again as a single block, then at another node, then thrown as 'bad_block' with height
   * and reason.
   */
  blocks(range: {
    readonly from: number
    readonly to: number
    readonly parent?: string
    readonly signal?: AbortSignal
  }): AsyncIterable<LoadedBlock>
  /** Hash of an irreversible block, undefined when the node has none of that height. */
  blockHash(height: number, signal?: AbortSignal): Promise<string | undefined>
  contractCode(id: string, signal?: AbortSignal): Promise<ContractCode>
  /**
   * Rows of a contract's storage at the last irreversible block, keys ascending from `from` (inclusive) on:
   * `STORAGE_PAGE` of them, fewer at the end.
   */
  storage(
    asked: {
      readonly contract: string
      readonly type: 'KV' | 'MAP'
      readonly prefix: string
      readonly from?: string
    },
    signal?: AbortSignal,
  ): Promise<StoragePage>
  /** GET of an allowed path, the node's own bytes. Not retried on an answer, whatever its status. */
  get(path: string, signal?: AbortSignal): Promise<NodeAnswer>
  close(): void
}

/** What loading asks of a node. */
export type BlockSource = Pick<Node, 'name' | 'chainInfo' | 'blockHash' | 'blocks'>
