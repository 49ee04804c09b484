import type { Frozen } from './balance.ts'
import type { Entry } from './series-entry.ts'
import { numberText, parsePackedNumber } from './series-number.ts'

/** An owner's amounts of a token, in its smallest unit. */
export type Held = {
  available: bigint
  frozen: bigint
  /** Amounts not yet due, by time, then amount: the node's own order. */
  list: readonly Frozen[]
}

/** The owner's amounts when a part of `seriesOf.balance` began, read from its opening. */
export function parseHeld([available = '0', frozen = '0', ...rest]: readonly string[]): Held {
  const list: Frozen[] = []
  for (let at = 0; at + 1 < rest.length; at += 2) list.push([rest[at] ?? '0', rest[at + 1] ?? '0'])
  return { available: BigInt(available), frozen: BigInt(frozen), list }
}

/** The owner's amounts after `times` of the changes that an entry represents. */
export function applyHeldEntry(held: Held, { cause, change, more: [until, own] }: Entry, times = 1): Held {
  const { available, frozen, list } = held
  if (cause.kind === 'due')
    return { available: available + change, frozen: frozen - change, list: afterRelease(list, change) }
  if (until === undefined) return { ...held, available: available + change * BigInt(times) }
  const amount = own === undefined ? change : BigInt(own)
  return {
    available: available + change - amount,
    frozen: frozen + amount,
    list: withFrozen(list, [String(amount), until]),
  }
}

/** The opening of a part that begins with these amounts. */
const openingOfHeld = ({ available, frozen, list }: Held): readonly string[] => [
  String(available),
  String(frozen),
  ...list.flat(),
]

/**
 * The list with one more frozen amount, in the node's place: by time, then amount (go-iost
 * `vm/native/token_v1.go` freezeBalance).
 */
function withFrozen(list: readonly Frozen[], [amount, time]: Frozen): readonly Frozen[] {
  const at = list.findIndex(
    ([otherAmount, otherTime]) => (BigInt(otherTime) - BigInt(time) || BigInt(otherAmount) - BigInt(amount)) > 0n,
  )
  return at < 0 ? [...list, [amount, time]] : list.toSpliced(at, 0, [amount, time])
}

/** The list without the first amounts, which became due together: as many as add up to the amount. */
function afterRelease(list: readonly Frozen[], amount: bigint): readonly Frozen[] {
  let released = 0n
  let count = 0
  while (count < list.length && released < amount) {
    released += BigInt(list[count]?.[0] ?? '0')
    count += 1
  }
  return list.slice(count)
}

/** Votes by producer or voter; names without votes are left out. */
export type Votes = ReadonlyMap<string, bigint>

/** Votes when a part of `seriesOf.voter` began, read from its opening. */
export function parseVotes(opening: readonly string[]): Votes {
  const votes = new Map<string, bigint>()
  for (let at = 0; at + 1 < opening.length; at += 2)
    votes.set(opening[at] ?? '', parsePackedNumber(opening[at + 1] ?? '0'))
  return votes
}

/** Votes after one more change. */
export function applyVoteEntry(votes: Votes, { change, more: [name = ''] }: Entry): Votes {
  const after = new Map(votes)
  const now = (votes.get(name) ?? 0n) + change
  if (now === 0n) after.delete(name)
  else after.set(name, now)
  return after
}

/** The opening of the next part of a balance. */
export const computeBalanceOpening = (opening: readonly string[], entries: readonly Entry[]): readonly string[] =>
  openingOfHeld(entries.reduce((held, entry) => applyHeldEntry(held, entry, entry.times), parseHeld(opening)))

/** The opening of the next part of a voter. */
export const computeBallotOpening = (opening: readonly string[], entries: readonly Entry[]): readonly string[] =>
  [...entries.reduce(applyVoteEntry, parseVotes(opening))].flatMap(([name, votes]) => [name, numberText(votes)])
