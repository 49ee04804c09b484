import type { ContractCode, LoadedBlock, ProofLevel } from '#chain/block.ts'
import type { RawHead } from '#chain/head.ts'
import type { KnownBlock } from '#chain/time.ts'

/** The chain's head and last irreversible block as a node reports them. Times in nanoseconds since 1970. */
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

/** The identity of a chain: its id and the hash of its first block. */
export type ChainIdentity = { readonly chainId: number; readonly genesis: string }

/** The reason why a node must not be asked about the stored chain. */
export type Unfit =
  /** The node serves another chain: `genesis block 5gQ…, not 8Wx…`. */
  | { readonly is: 'foreign'; readonly why: string }
  /** The node serves another branch of the same chain: its irreversible block at a stored height differs. */
  | { readonly is: 'apart'; readonly height: number; readonly stored: string; readonly there: string }

/** The stored blocks, for comparison with nodes. */
export type StoredBlocks = {
  /** The last stored block; undefined: nothing is stored yet. */
  last(): Promise<(KnownBlock & { readonly hash: string }) | undefined>
  /** The hash of the block at a height; undefined: it is not stored. */
  hashAt(height: number): Promise<string | undefined>
}

/** Rows per page of storage, the maximum of nodes (go-iost rpc, ListContractStorage). */
export const STORAGE_PAGE = 100

/** A range of a contract's storage: the rows whose keys begin with `prefix`, from the key `from` on. */
export type StorageRange = {
  readonly contract: string
  readonly type: 'KV' | 'MAP'
  readonly prefix: string
  readonly from?: string | undefined
}

/** A page of a contract's storage, as of one block. */
export type StoragePage = {
  readonly height: number
  readonly hash: string
  readonly rows: readonly (readonly [key: string, value: string])[]
}

/** An answer as received from the node. */
export type NodeResponse = {
  readonly status: number
  /** undefined: the node sends none. */
  readonly contentType: string | undefined
  readonly body: Uint8Array<ArrayBuffer>
}

/** A block's hash as reported by one node; `node`: its URL without credentials. */
export type ReportedHash = { readonly node: string; readonly hash: string }

/** An answer that is passed on. */
export type ForwardedResponse = NodeResponse & {
  /** Whether the node that answered has reached this height, and no other is known to have a higher head. */
  readonly reaches: (height: number) => boolean
  /** Reads that node's current height, for `reaches`; concurrent callers share a request. Never throws. */
  readonly refreshHeight: (height: number) => Promise<void>
  /** Whether the answer is from the node that was asked first. */
  readonly isFirst: boolean
  /** Whether the node that answered would still be used now. */
  readonly isUsable: () => boolean
  /** Releases the memory of the answer, which counts against the room for all answers until then. */
  readonly release: () => void
}

/** A change in the state of a watched node. */
export type NodeEvent = {
  readonly type: 'silent' | 'heard' | 'foreign' | 'apart'
  /** URL without credentials. */
  readonly node: string
  /** Its error, its chain, the height where its branch differs from the stored one, or its height. */
  readonly detail: string
}

/**
 * Nodes of one chain over HTTP RPC. Every call has a timeout and a size limit, is retried with back-off where
 * that can help, and goes to the healthy node with the highest irreversible block. Failures: 'unavailable'
 * (no node answers), 'bad_block' (the answer cannot be true), 'deadline' (the caller's signal).
 */
export type Node = {
  /** URLs without credentials, for messages. */
  readonly name: string
  chainInfo(signal?: AbortSignal): Promise<ChainInfo>
  /**
   * Blocks `from` … `to` in order, each proved to the node's level (`LoadedBlock.proof`) and a child of the one before
   * (`parent` is the hash of block `from` − 1, absent for genesis). Unless the level is `linked`, block `to` and every
   * block that changes producers carry `signedBy`. Several requests are in flight; the bytes in memory are limited. A
   * block that fails a check is fetched singly, then from another node; then the call throws 'bad_block' with height
   * and reason. A block is yielded after the next block has named it as parent, except for the last irreversible one.
   */
  blocks(range: {
    readonly from: number
    readonly to: number
    readonly parent?: string | undefined
    /** The node's last irreversible block; below it, block `to` too waits for the next one. Default: `to`. */
    readonly lib?: number | undefined
    /** Proof level of these blocks, instead of the node's own. */
    readonly prove?: ProofLevel | undefined
    /** Near the head: the texts of transactions are proved too if the node returns raw blocks. */
    readonly following?: boolean
    readonly signal?: AbortSignal
  }): AsyncIterable<LoadedBlock>
  /** Hash of an irreversible block; undefined when the node has none at that height. */
  blockHash(height: number, signal?: AbortSignal): Promise<string | undefined>
  /**
   * The hash of an irreversible block as reported by each of several nodes. Each node is asked once with a
   * short timeout; a node that is unreachable, slow or behind is missing from the list. [] for a single node.
   */
  hashes(height: number, signal?: AbortSignal): Promise<readonly ReportedHash[]>
  /** Raw heads `from` … `to` with their signatures, as the node returns them, without any proof. */
  heads(range: { readonly from: number; readonly to: number }, signal?: AbortSignal): Promise<readonly RawHead[]>
  /** A contract's current interface; undefined: there is no such contract. */
  contractCode(id: string, signal?: AbortSignal): Promise<ContractCode | undefined>
  /**
   * Rows of a contract's storage at the last irreversible block, in ascending order of keys from `from`
   * (inclusive): `STORAGE_PAGE` of them, fewer at the end.
   */
  storage(asked: StorageRange, signal?: AbortSignal): Promise<StoragePage>
  /**
   * GET of an allowed path: the bytes of the best node that answers, with any content. The next node is asked
   * when one hangs or fails (5xx), but none that is far behind the others or the store. `withinMs`: time
   * limit of each node's answer. `body`: JSON of a read-only call that nodes accept only as a POST.
   */
  get(
    path: string,
    options?: { readonly signal?: AbortSignal; readonly withinMs?: number; readonly body?: string },
  ): Promise<ForwardedResponse>
  /**
   * Probes the nodes regularly until `close`. Requests use the latest results and wait for no probe. Nodes of
   * another chain than `expected` are never asked; if that is undefined, nothing is stored yet, and the first
   * node that answers determines the chain. With `stored`, a report is rejected if its height is impossible
   * so soon after the last stored block, and no request is passed on to a node on another branch
   * (`pool.ts`). Resolves after the first probe, which takes no longer than its timeout.
   */
  watch(expected: () => Promise<ChainIdentity | undefined>, stored?: StoredBlocks): Promise<void>
  /**
   * The chain info of the best node at the last probe; undefined: nodes are not watched, or no node of the
   * chain has answered lately.
   */
  lastInfo(): ChainInfo | undefined
  /** The reason why no watched node is used though one answers, and its name; undefined: there is none. */
  whyUnfit(): (Unfit & { readonly node: string }) | undefined
  /** Milliseconds since the last accepted report of a node of the chain; undefined: none, or not watched. */
  reportAgeMs(): number | undefined
  close(): void
}

/** The part of a node that loading uses. */
export type BlockSource = Pick<Node, 'name' | 'chainInfo' | 'blockHash' | 'blocks'> & Partial<Pick<Node, 'hashes'>>
