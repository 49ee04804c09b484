import type { Filling, Published } from '#store/port.ts'
import type { Inventory } from './inventory-record.ts'
import type { Generations } from './names.ts'
import type { Partitions } from './partitions.ts'

/** A stamp from which on batches can be taken back, and the bytes of their records until the next mark. */
export type Mark = readonly [stamp: number, bytes: number]

/** Where the journal has the undo record of the last batch; each record names the one before. */
export type Undo = {
  /** Name of its parts: the first has the checkpoint before, the others the documents as they were. */
  readonly name: string
  readonly parts: number
  readonly marks: readonly Mark[]
}

/** How far the chain is stored, and the loader that holds the lease; one document, changed only by compare-and-set. */
export type Checkpoint = {
  readonly schema: number
  readonly chainId: number
  readonly genesis: string
  readonly derivation: number
  /** Random name of the loader that has the lease; `""`: none. */
  readonly owner: string
  /** When the lease was last renewed, milliseconds since 1970. */
  readonly renewed: number
  /** Random name of this write: after an unclear answer it shows whether the write was carried out. */
  readonly write: string
  readonly partitions: Partitions
  /** The indices it describes; absent in data of older versions: the first of each. */
  readonly generations?: Generations | undefined
  /** A migration is replacing these indices by that generation: they must not be written any more. */
  readonly retired?: number | undefined
  readonly filling: Filling
  /** End of the last committed batch. */
  readonly end?: Published
  /** Its random name, which is that of its journal, and the number of parts of the journal. */
  readonly batch: string
  readonly parts: number
  /** By how much stamps are ahead of heights. Raised when heights go back, so that versions never do. Absent: 0. */
  readonly lift?: number | undefined
  /** A repair is unfinished: the store must not be read or loaded. */
  readonly mending?: true | undefined
  /** How to take the last batch back; absent: not possible. */
  readonly undo?: Undo | undefined
  /** All indices of the store; absent in data of older versions. */
  readonly inventory?: Inventory | undefined
}

/** What readers use. */
export type PublishedMeta = {
  readonly end: Published
  readonly batch: string
  readonly partitions: Partitions
  readonly generations?: Generations | undefined
  /** As in the checkpoint. */
  readonly lift?: number | undefined
  readonly mending?: true | undefined
  readonly inventory?: Inventory | undefined
  /** `EDITION` of the program that published it; absent in data of older versions. */
  readonly edition?: string
}
