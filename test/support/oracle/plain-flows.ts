import { toUnits } from '#chain/amount.ts'
import type { Block } from '#chain/block.ts'
import type { PlainPast } from './plain-past.ts'
import { MOVES, moveOf, readReceipts } from './receipts.ts'

const DAY_MS = 86_400_000n

export const plainDate = (time: bigint): string =>
  new Date(Number(time / 1_000_000n / DAY_MS) * Number(DAY_MS)).toISOString().slice(0, 10)

/** The receipts that moved a token, with the day and the amount in 10^-18. */
function* movedIn(blocks: Iterable<Block>) {
  for (const { height, time, position, tx, receipt } of readReceipts(blocks, MOVES)) {
    const move = moveOf(receipt)
    if (move === undefined || tx.delay !== 0n) continue
    // It pays for the previous block and belongs to no request of an account.
    const isOwn = height > 0 && position === 0 && move.token === 'contribute'
    yield { ...move, date: plainDate(time), isOwn, amount: toUnits(move.amount, 18) }
  }
}

const NO_TOKEN_DAY = { transfers: 0, volume: 0n, issued: 0n, destroyed: 0n }

/** The activity of each token on each day with any, by `token/date`, in 10^-18 of the token. */
export function plainTokenDays(blocks: Iterable<Block>): ReadonlyMap<string, typeof NO_TOKEN_DAY> {
  const days = new Map<string, typeof NO_TOKEN_DAY>()
  for (const { date, kind, token, amount } of movedIn(blocks)) {
    const id = `${token}/${date}`
    const day = days.get(id) ?? { ...NO_TOKEN_DAY }
    days.set(id, day)
    if (kind === 'issue') day.issued += amount
    else if (kind === 'destroy') day.destroyed += amount
    else {
      day.transfers += 1
      day.volume += amount
    }
  }
  return days
}

/** The counterparties of each owner on each day, by `token/owner/date`. */
export function plainCounterparties(blocks: Iterable<Block>): ReadonlyMap<string, ReadonlySet<string>> {
  const days = new Map<string, Set<string>>()
  const add = (token: string, owner: string, date: string, other: string): void => {
    if (owner === '' || other === '' || owner === other) return
    const id = `${token}/${owner}/${date}`
    days.set(id, (days.get(id) ?? new Set()).add(other))
  }
  for (const { date, token, from, to, isOwn } of movedIn(blocks)) {
    if (isOwn) continue
    add(token, from, date, to)
    add(token, to, date, from)
  }
  return days
}

const NO_FLOWS = { in: 0n, out: 0n, movements_in: 0, movements_out: 0 }

/** The amounts an owner received and sent on each day, by date, in the smallest unit of the token. */
export function plainFlows({ changes, times }: PlainPast, id: string): ReadonlyMap<string, typeof NO_FLOWS> {
  const days = new Map<string, typeof NO_FLOWS>()
  for (const { height, change } of changes.get(id) ?? []) {
    const date = plainDate(times[height] ?? 0n)
    const day = days.get(date) ?? { ...NO_FLOWS }
    days.set(date, day)
    if (change > 0n) {
      day.in += change
      day.movements_in += 1
    } else if (change < 0n) {
      day.out -= change
      day.movements_out += 1
    }
  }
  return days
}
