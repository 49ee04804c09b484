import { jsonIn } from '#chain/json.ts'
import type { Filling, Published } from '#store/port.ts'
import { isCount, isHeight, type Members, membersOf, publishedFrom } from '#store/published.ts'
import type { Generations } from './names.ts'
import type { Partitions } from './partitions.ts'

/** The last document that was written to an index, and its version; a document of history has version 1. */
export type LastDocument = readonly [id: string, version: number]

/** By name of index; absent: nothing was written to the index yet, or only by a version without this record. */
export type LastDocuments = Readonly<Record<string, LastDocument>>

/** The UUID of an index and the number of documents that belong in it; absent: not counted. */
export type Holding = readonly [uuid: string, documents?: number]

/** All indices of a store after a batch. */
export type Inventory = {
  /** Name of the batch. If it is not the last batch, a version without inventories wrote the last one. */
  readonly batch: string
  /** By name of index. */
  readonly indices: Readonly<Record<string, Holding>>
  /** The documents that a copy of each index must show to be used; absent in data of older versions. */
  readonly last?: LastDocuments | undefined
}

/** The end of the stored chain, and the loader with the lease; one document, changed only by compare-and-set. */
export type Checkpoint = {
  readonly schema: number
  readonly chainId: number
  readonly genesis: string
  readonly derivation: number
  /** Random name of the loader that has the lease; `""`: none. */
  readonly owner: string
  /** Time of the last renewal of the lease, milliseconds since 1970. */
  readonly renewed: number
  /** Random name of this write: after an unclear answer it shows whether the write was carried out. */
  readonly write: string
  readonly partitions: Partitions
  /** The generations of the store's indices; absent in data of older versions: the first of each. */
  readonly generations?: Generations | undefined
  /** The generation by which a migration is replacing these indices; no process may write them any more. */
  readonly retired?: number | undefined
  readonly filling: Filling
  /**
   * End of the last announced batch: all its history is stored, and its state may be on its way. It is published when its
   * state is stored as well.
   */
  readonly end?: Published | undefined
  /** Random name of the last announced batch; `""`: none. */
  readonly batch: string
  /** Name of the batch before it, which was published. Absent in data of older versions. */
  readonly from?: string | undefined
  /**
   * Height of a batch that was announced and then abandoned, because the file of its loader was lost: some documents of
   * state may be of this height. So the next batch must not end below it. Its history is in that partition, and stays there.
   * Absent: there is none.
   */
  readonly floor?: { readonly height: number; readonly partition: number } | undefined
  /** Raised when heights go back, so that stamps never do. Absent: 0. */
  readonly epoch?: number | undefined
  /** A repair is unfinished: the store must not be read or loaded. */
  readonly mending?: true | undefined
  /**
   * Random name of the state, which each loader's file has, too. It is removed when documents change otherwise than by a
   * batch, so that each such file is filled anew.
   */
  readonly state?: string | undefined
  /** All indices of the store; absent in data of older versions. */
  readonly inventory?: Inventory | undefined
}

/** The record that readers use. */
export type PublishedMeta = {
  readonly end: Published
  readonly batch: string
  readonly partitions: Partitions
  readonly generations?: Generations | undefined
  /** See `Checkpoint.epoch`. */
  readonly epoch?: number | undefined
  readonly mending?: true | undefined
  readonly inventory?: Inventory | undefined
  /** `EDITION` of the program that published it; absent in data of older versions. */
  readonly edition?: string
}

/** Stamps per epoch: more than heights of any chain. */
const EPOCH = 2 ** 40

/**
 * Position of a height in the order of writing. State documents have the stamp of the batch that wrote them. Stamps only
 * grow, even when a repair goes back to a smaller height. What a document is at a stamp follows from the chain alone, so
 * two loaders write the same.
 */
export const stampOf = ({
  end,
  epoch = 0,
}: {
  readonly end: Pick<Published, 'height'>
  readonly epoch?: number | undefined
}): number => epoch * EPOCH + end.height

/** The last stamp of an epoch. */
export const lastStamp = (epoch: number): number => (epoch + 1) * EPOCH - 1

/** The epoch of a stamp. */
export const epochOf = (stamp: number): number => Math.floor(stamp / EPOCH)

/** The height of a stamp. */
export const heightAt = (stamp: number): number => stamp % EPOCH

/** Version of a document with a stamp; versions begin at 1. */
export const versionAt = (stamp: number): number => stamp + 1

const NONE: LastDocuments = {}

/**
 * The documents that every copy of an index must show to be used at a published height. A copy that shows the
 * last document has all documents that were acknowledged before it (`write/in-order.ts`).
 */
export const lastDocuments = ({
  batch,
  inventory,
}: {
  readonly batch: string
  readonly inventory?: Inventory | undefined
}): LastDocuments => (inventory?.batch === batch ? (inventory.last ?? NONE) : NONE)

/** The checkpoint in a document's `_source`; undefined: not a checkpoint. */
export const checkpointOf = (source: unknown): Checkpoint | undefined => {
  const body = bodyOf(source)
  if (body === undefined) return undefined
  const { end, ...rest } = body
  const published = end === undefined ? undefined : publishedFrom(end)
  const whole =
    [rest['schema'], rest['chainId'], rest['derivation'], rest['renewed']].every(isCount) &&
    [rest['owner'], rest['batch']].every(text => typeof text === 'string') &&
    [rest['genesis'], rest['write']].every(text => typeof text === 'string' && text !== '') &&
    arePartitions(rest['partitions']) &&
    isFilling(rest['filling']) &&
    areGenerations(rest['generations']) &&
    (rest['retired'] === undefined || isCount(rest['retired'])) &&
    (rest['from'] === undefined || typeof rest['from'] === 'string') &&
    isFloor(rest['floor']) &&
    isEpoch(rest['epoch']) &&
    isUnderRepair(rest['mending']) &&
    (rest['state'] === undefined || typeof rest['state'] === 'string') &&
    isInventory(rest['inventory'])
  if (!whole || (end !== undefined && published === undefined)) return undefined
  // Each member was checked above.
  return { ...rest, ...(published === undefined ? {} : { end: published }) } as Checkpoint
}

/** The published record in a document's `_source`; undefined: not such a record. */
export const publishedOf = (source: unknown): PublishedMeta | undefined => {
  const body = bodyOf(source)
  const end = publishedFrom(body?.['end'])
  const whole =
    typeof body?.['batch'] === 'string' &&
    arePartitions(body['partitions']) &&
    areGenerations(body['generations']) &&
    isEpoch(body['epoch']) &&
    isUnderRepair(body['mending']) &&
    (body['edition'] === undefined || typeof body['edition'] === 'string') &&
    isInventory(body['inventory'])
  return whole && end !== undefined ? ({ ...body, end } as PublishedMeta) : undefined
}

const bodyOf = (source: unknown): Members | undefined => {
  const text = membersOf(source)?.['body']
  return typeof text === 'string' ? membersOf(jsonIn(text)) : undefined
}

const arePartitions = (value: unknown): boolean =>
  Array.isArray(value) &&
  value[0] === 0 &&
  value.every((first, at) => isHeight(first) && (at === 0 || first > value[at - 1]))

const isFilling = (value: unknown): boolean => {
  const { partition, documents } = membersOf(value) ?? {}
  return isCount(partition) && isCount(documents)
}

const isFloor = (value: unknown): boolean => {
  const { height, partition } = membersOf(value) ?? {}
  return value === undefined || (isHeight(height) && isCount(partition))
}

/** Stamps stay below 2^50, so that they are exact as numbers. */
export const MAX_EPOCH = 2 ** 10 - 1
const isEpoch = (value: unknown): boolean => value === undefined || (isCount(value) && value <= MAX_EPOCH)

/** Present only while it is true; any other value is invalid. */
const isUnderRepair = (value: unknown): boolean => value === undefined || value === true

/** Absent in data of older versions. */
const areGenerations = (value: unknown): boolean =>
  value === undefined || (membersOf(value) !== undefined && Object.values(value as object).every(isCount))

/** Absent in data of older versions. */
const areLast = (value: unknown): boolean =>
  value === undefined ||
  (membersOf(value) !== undefined &&
    Object.values(value as object).every(
      each => Array.isArray(each) && typeof each[0] === 'string' && isCount(each[1]),
    ))

/** Absent in data of older versions. */
const isInventory = (value: unknown): boolean => {
  if (value === undefined) return true
  const { batch, indices, last } = membersOf(value) ?? {}
  return (
    typeof batch === 'string' &&
    membersOf(indices) !== undefined &&
    Object.values(indices as object).every(
      holding =>
        Array.isArray(holding) &&
        holding.length <= 2 &&
        typeof holding[0] === 'string' &&
        (holding[1] === undefined || isCount(holding[1])),
    ) &&
    areLast(last)
  )
}
