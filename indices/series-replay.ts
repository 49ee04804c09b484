import type { Frozen } from './balance.ts'
import type { Entry } from './series-entry.ts'
import { numberIn, numberText } from './series-number.ts'

/** What an owner had of a token, in its smallest unit. */
export type Held = {
  available: bigint
  frozen: bigint
  /** Not yet due, by time, then amount: the node's own order. */
  list: readonly Frozen[]
}

/** What an owner had when a part of `seriesOf.balance` began, by its opening. */
export const heldAt = ([available = '0', frozen = '0', ...rest]: readonly string[]): Held => {
  const list: Frozen[] = []
  for (let at = 0; at + 1 < rest.length; at += 2) list.push([rest[at] ?? '0', rest[at + 1] ?? '0'])
  return { available: BigInt(available), frozen: BigInt(frozen), list }
}

/** What an owner had after one more change (of those that an entry stands for). */
export const heldAfter = (held: Held, { cause, change, more: [until] }: Entry, times = 1): Held => {
  const { available, frozen, list } = held
  if (cause.kind === 'due')
    return { available: available + change, frozen: frozen - change, list: afterRelease(list, change) }
  if (until === undefined) return { ...held, available: available + change * BigInt(times) }
  return { available, frozen: frozen + change, list: withFrozen(list, [String(change), until]) }
}

/** The opening that says what an owner has. */
const openingOfHeld = ({ available, frozen, list }: Held): readonly string[] => [
  String(available),
  String(frozen),
  ...list.flat(),
]

/**
 * A list of frozen amounts with one more where the node puts it: by time, then amount (go-iost `vm/native/token_v1.go`
 * freezeBalance).
 */
const withFrozen = (list: readonly Frozen[], [amount, time]: Frozen): readonly Frozen[] => {
  const at = list.findIndex(
    ([otherAmount, otherTime]) =>
      (BigInt(otherTime) - BigInt(time) || BigInt(otherAmount) - BigInt(amount)) > 0n,
  )
  return at < 0 ? [...list, [amount, time]] : list.toSpliced(at, 0, [amount, time])
}

/** The first of them came due together: as many as make up the amount. */
const afterRelease = (list: readonly Frozen[], amount: bigint): readonly Frozen[] => {
  let released = 0n
  let count = 0
  while (count < list.length && released < amount) {
    released += BigInt(list[count]?.[0] ?? '0')
    count += 1
  }
  return list.slice(count)
}

/** Votes by their producer or voter, those of none left out. */
export type Votes = ReadonlyMap<string, bigint>

/** Votes when a part of `seriesOf.voter` began, by its opening. */
export const votesAt = (opening: readonly string[]): Votes => {
  const votes = new Map<string, bigint>()
  for (let at = 0; at + 1 < opening.length; at += 2)
    votes.set(opening[at] ?? '', numberIn(opening[at + 1] ?? '0'))
  return votes
}

/** Votes after one more change. */
export const votesAfter = (votes: Votes, { change, more: [name = ''] }: Entry): Votes => {
  const after = new Map(votes)
  const now = (votes.get(name) ?? 0n) + change
  if (now === 0n) after.delete(name)
  else after.set(name, now)
  return after
}

/** The opening of the part of a balance behind one. */
export const balanceAfter = (opening: readonly string[], entries: readonly Entry[]): readonly string[] =>
  openingOfHeld(entries.reduce((held, entry) => heldAfter(held, entry, entry.times), heldAt(opening)))

/** The opening of the part of a voter behind one. */
export const ballotsAfter = (opening: readonly string[], entries: readonly Entry[]): readonly string[] =>
  [...entries.reduce(votesAfter, votesAt(opening))].flatMap(([name, votes]) => [name, numberText(votes)])
