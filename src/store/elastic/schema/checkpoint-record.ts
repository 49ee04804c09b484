import type { Filling, Published } from '#store/port.ts'
import { isCount, isHeight, type Members, membersOf, publishedFrom } from '#store/published.ts'
import type { Generations } from './names.ts'
import type { Partitions } from './partitions.ts'

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

/**
 * Place of a height in the order of writing. State documents carry the stamp of the batch that wrote them; stamps only
 * grow, even when a repair goes back to a smaller height.
 */
export const stampOf = ({
  end,
  lift = 0,
}: {
  readonly end: Pick<Published, 'height'>
  readonly lift?: number | undefined
}): number => end.height + lift

/** Version of a document with a stamp; versions begin at 1. */
export const versionAt = (stamp: number): number => stamp + 1

const NONE: LastDocuments = {}

/**
 * What every copy of an index must show to be used at a published height. A copy that shows the last document has all
 * that was acknowledged before it (`write/in-order.ts`).
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
    areParts(rest['parts']) &&
    [rest['owner'], rest['batch']].every(text => typeof text === 'string') &&
    [rest['genesis'], rest['write']].every(text => typeof text === 'string' && text !== '') &&
    arePartitions(rest['partitions']) &&
    isFilling(rest['filling']) &&
    areGenerations(rest['generations']) &&
    (rest['retired'] === undefined || isCount(rest['retired'])) &&
    isLift(rest['lift']) &&
    isUnderRepair(rest['mending']) &&
    isUndo(rest['undo']) &&
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
    isLift(body['lift']) &&
    isUnderRepair(body['mending']) &&
    (body['edition'] === undefined || typeof body['edition'] === 'string') &&
    isInventory(body['inventory'])
  return whole && end !== undefined ? ({ ...body, end } as PublishedMeta) : undefined
}

const bodyOf = (source: unknown): Members | undefined => {
  const text = membersOf(source)?.['body']
  if (typeof text !== 'string') return undefined
  try {
    return membersOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

const arePartitions = (value: unknown): boolean =>
  Array.isArray(value) &&
  value[0] === 0 &&
  value.every((first, at) => isHeight(first) && (at === 0 || first > value[at - 1]))

const isFilling = (value: unknown): boolean => {
  const { partition, documents } = membersOf(value) ?? {}
  return isCount(partition) && isCount(documents)
}

/** A stamp is a height plus a lift; a repair ignores stamps beyond this. */
const MOST_LIFT = 2 ** 50
const isLift = (value: unknown): boolean => value === undefined || (isCount(value) && value < MOST_LIFT)

/** Present only while it is true; any other value is invalid. */
const isUnderRepair = (value: unknown): boolean => value === undefined || value === true

/** Each part has a few MB. */
const MOST_PARTS = 1_000_000
const areParts = (value: unknown): boolean => isCount(value) && value < MOST_PARTS

const isUndo = (value: unknown): boolean => {
  const { name, parts, marks } = membersOf(value) ?? {}
  return (
    value === undefined || (typeof name === 'string' && name !== '' && areParts(parts) && areMarks(marks))
  )
}

/** Whether these are stored marks: at least one, with ascending stamps. */
const areMarks = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(
    (mark, at) =>
      Array.isArray(mark) &&
      mark.length === 2 &&
      mark.every(isCount) &&
      (at === 0 || Number(mark[0]) > Number(value[at - 1]?.[0])),
  )

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
