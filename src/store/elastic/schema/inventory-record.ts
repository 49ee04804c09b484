/** The document of an index that was written after all others, and its version; a document of history has version 1. */
export type LastDocument = readonly [id: string, version: number]

/** By name of index; absent: nothing was written to it yet, or by a version that did not record it. */
export type LastDocuments = Readonly<Record<string, LastDocument>>

/** The UUID of an index and the number of documents that belong in it; absent: not counted. */
export type Holding = readonly [uuid: string, documents?: number]

/** All indices of a store after a batch. */
export type Inventory = {
  /** Name of the batch. If it is not the last batch, a version without inventories wrote that one. */
  readonly batch: string
  /** By name of index. */
  readonly indices: Readonly<Record<string, Holding>>
  /** What a copy of each index must show to be used; absent in data of older versions. */
  readonly last?: LastDocuments | undefined
}
