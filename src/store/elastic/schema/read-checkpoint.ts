import { isCount, isHeight, type Members, membersOf, publishedFrom } from '../../published.ts'
import { areMarks } from '../write/undo-marks.ts'
import type { Checkpoint, PublishedMeta } from './checkpoint-record.ts'

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
    isMending(rest['mending']) &&
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
    isMending(body['mending']) &&
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
const isMending = (value: unknown): boolean => value === undefined || value === true

/** Each part has a few MB. */
const MOST_PARTS = 1_000_000
const areParts = (value: unknown): boolean => isCount(value) && value < MOST_PARTS

const isUndo = (value: unknown): boolean => {
  const { name, parts, marks } = membersOf(value) ?? {}
  return (
    value === undefined || (typeof name === 'string' && name !== '' && areParts(parts) && areMarks(marks))
  )
}

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
