import { provedFrom } from './proved.ts'
import type { Published } from './published.ts'

/** Members of an object as it was found: each may be anything. */
export type Members = Readonly<Record<string, unknown>>

/** undefined: it is no object. */
export const membersOf = (value: unknown): Members | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** Block ids have no room for a larger height. */
const HEIGHTS = 1e12
export const isHeight = (value: unknown): value is number => isCount(value) && value < HEIGHTS

const INT64_MAX = 2n ** 63n - 1n
/** Nanoseconds since 1970, with no more digits than a time can have. */
const TIME = /^\d{1,19}$/

/** The end of a store as it was written, with its time as text; undefined: it is not one. */
export const publishedFrom = (value: unknown): Published | undefined => {
  const { height, hash, time, lib, proved: stored } = membersOf(value) ?? {}
  const isEnd =
    isHeight(height) && typeof hash === 'string' && hash !== '' && isCount(lib) && typeof time === 'string'
  if (!isEnd || !TIME.test(time) || BigInt(time) > INT64_MAX) return undefined
  const proved = provedFrom(stored)
  return { height, hash, time: BigInt(time), lib, ...(proved === undefined ? {} : { proved }) }
}
