import { grouped } from './amount.ts'

/** The English noun for a number of things: `block` for one, else `blocks`. Chinese has no plural. */
export const nounFor = (count: number | bigint | string, one: string): string =>
  String(count) === '1' ? one : `${one}s`

/** A count of things in English: `1 block`, `1,234 blocks`. */
export const counted = (count: number | string, one: string): string =>
  `${grouped(String(count))} ${nounFor(count, one)}`
