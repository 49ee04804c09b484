import type { ContractCode, LoadedBlock } from '#chain/block.ts'
import type { RawHead } from '#chain/head.ts'
import type { ProofLevel } from '#chain/proof.ts'
import type { KnownBlock } from '#chain/time.ts'
import type { ChainIdentity, ChainInfo, Unfit } from './chain-info.ts'
import type { Health } from './health.ts'

/** The stored blocks, which nodes are compared with. */
export type StoredBlocks = {
  /** The last one; undefined: nothing is stored yet. */
  last(): Promise<(KnownBlock & { readonly hash: string }) | undefined>
  /** The hash of the block of a height; undefined: it is not stored. */
  hashAt(height: number): Promise<string | undefined>
}

/** Rows of a page of storage: more are not given (go-iost rpc, ListContractStorage). */
export const STORAGE_PAGE = 100

/** Which rows of a contract's storage: those whose keys begin with `prefix`, from the key `from` on. */
export type StorageRange = {
  readonly contract: string
  readonly type: 'KV' | 'MAP'
  readonly prefix: string
  readonly from?: string
}

/** A page of a contract's storage, as of one block. */
export type StoragePage = {
  readonly height: number
  readonly hash: string
  readonly rows: readonly (readonly [key: string, value: string])[]
}

/** An answer as the node gave it. */
export type NodeAnswer = {
  readonly status: number
  /** undefined: the node names none. */
  readonly contentType: string | undefined
  readonly body: Uint8Array<ArrayBuffer>
}

/** A block's hash by one node's word; `node`: its URL without credentials. */
export type SaidHash = { readonly node: string; readonly hash: string }

/** An answer that is passed on. */
export type PassedOn = NodeAnswer & {
  /** Whether the node that answered is known to be at this height at least, and no other one to have seen more of the chain. */
  readonly reaches: (height: number) => boolean
  /** Looks where that node stands now, for `reaches`; all who wait for a look at it share one. Never throws. */
  readonly lookAgain: (height: number) => Promise<void>
  /** Whether the node that was asked first has answered. */
  readonly isFirst: boolean
  /** Whether the node that answered would be asked again now. */
  readonly isUsable: () => boolean
  /** Its bytes count against the room for all answers until this is called. */
  readonly release: () => void
}

/** What changes about a node that is looked after. */
export type NodeEvent = {
  readonly type: 'silent' | 'heard' | 'foreign' | 'apart'
  /** URL without credentials. */
  readonly node: string
  /** What it did, which chain it serves, where its branch differs from the stored one, or its height. */
  readonly detail: string
}

/**
 * Nodes of one chain over HTTP RPC. Every call has a time-out and a size limit, is retried with back-off where that can
 * help, and goes to the healthy node with the highest irreversible block. Failures: 'unavailable' (no node answers),
 * 'bad_block' (the answer cannot be true), 'deadline' (the caller's signal).
 */
export type Node = {
  /** URLs without credentials, for messages. */
  readonly name: string
  chainInfo(signal?: AbortSignal): Promise<ChainInfo>
  /**
   * Blocks `from` … `to` in order, each proved as far as the node was made for (`LoadedBlock.proof`) and a child of the
   * one before (`parent` is the hash of block `from` − 1, absent for genesis). Unless `linked` is enough, block `to` and
   * every block that changes who produces carry `signedBy`. Several requests are in flight; at most a bounded number of bytes is held.
   * What does not fit is asked again as a single block, then at another node, then thrown as 'bad_block' with height
   * and reason. No block is given before the one behind it has named it as its parent, except for the last irreversible.
   */
  blocks(range: {
    readonly from: number
    readonly to: number
    readonly parent?: string
    /** The node's last irreversible block: below it, block `to` too waits for the one behind it. Absent: `to`. */
    readonly lib?: number
    /** How far they are proved, instead of what the node was made for. */
    readonly prove?: ProofLevel
    /** Near the head: the texts of transactions are proved too where the node gives raw blocks. */
    readonly following?: boolean
    readonly signal?: AbortSignal
  }): AsyncIterable<LoadedBlock>
  /** Hash of an irreversible block, undefined when the node has none of that height. */
  blockHash(height: number, signal?: AbortSignal): Promise<string | undefined>
  /**
   * The hash of an irreversible block by each of several nodes, each asked once with a short time-out: a node that is
   * away, slow, or not there yet is not in the list. [] with a single node.
   */
  hashes(height: number, signal?: AbortSignal): Promise<readonly SaidHash[]>
  /** Raw heads `from` … `to` with their signatures, as the node gives them: nothing of them is proved. */
  heads(
    range: { readonly from: number; readonly to: number },
    signal?: AbortSignal,
  ): Promise<readonly RawHead[]>
  /** What a contract offers today; undefined: there is no such contract. */
  contractCode(id: string, signal?: AbortSignal): Promise<ContractCode | undefined>
  /**
   * Rows of a contract's storage at the last irreversible block, keys ascending from `from` (inclusive) on:
   * `STORAGE_PAGE` of them, fewer at the end.
   */
  storage(asked: StorageRange, signal?: AbortSignal): Promise<StoragePage>
  /**
   * GET of an allowed path: the bytes of the best node that answers, with any content; the next node is asked when one
   * hangs or fails (5xx), but none that is far behind the others or the store. Within `withinMs`, by default the time-out of requests.
   * `body`: JSON of a call that only reads, but which nodes take as a POST alone.
   */
  get(
    path: string,
    options?: { readonly signal?: AbortSignal; readonly withinMs?: number; readonly body?: string },
  ): Promise<PassedOn>
  /**
   * Keeps looking how the nodes do, until `close`; requests go by what was found, and wait for no look. Nodes of another
   * chain than `expected` are never asked; undefined: nothing is stored yet, and the first node that answers says which
   * chain it is. With `stored`, a node that names a block for which there was no time since the last stored one is not
   * believed, and no request is passed on to one that is on another branch (`judge.ts`). Resolves after the first look,
   * which takes no longer than its time-out.
   */
  watch(expected: () => Promise<ChainIdentity | undefined>, stored?: StoredBlocks): Promise<void>
  /** What `watch` has found out, for another thread. */
  health(): Health
  /** Calls `listener` after each probe; there is one listener. */
  onProbe(listener: () => void): void
  /** Takes over what another thread has found out, instead of `watch`. */
  takeOver(health: Health): void
  /**
   * The chain info of the best node at the last probe; undefined: nodes are not watched, or none of the chain has
   * answered lately.
   */
  heard(): ChainInfo | undefined
  /** Why none of the watched nodes is used though one answers, and which one; undefined: one is used, or none answers. */
  whyUnfit(): (Unfit & { readonly node: string }) | undefined
  /** Milliseconds since a node of the chain last told where it stands; undefined: none has, or nodes are not watched. */
  heardAgo(): number | undefined
  close(): void
}

/** What loading asks of a node. */
export type BlockSource = Pick<Node, 'name' | 'chainInfo' | 'blockHash' | 'blocks'> &
  Partial<Pick<Node, 'hashes'>>
