import { toUnits } from '#chain/amount.ts'
import type { Block } from '#chain/block.ts'
import type { PlainPast } from './plain-past.ts'

/** The activity of a token on a day, in 10^-18 of the token. Independent of `src/derive`. */
type PlainTokenDay = { transfers: number; volume: bigint; issued: bigint; destroyed: bigint }

const DAY_MS = 86_400_000n

export const plainDate = (time: bigint): string =>
  new Date(Number(time / 1_000_000n / DAY_MS) * Number(DAY_MS)).toISOString().slice(0, 10)

/** One receipt that moved a token: day, token, sender and recipient. */
type Moved = {
  readonly date: string
  readonly kind: string
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  /** It pays for the previous block and belongs to no request of an account. */
  readonly isOwn: boolean
}

const movedIn = function* (blocks: Iterable<Block>): Generator<Moved> {
  for (const { height, time, transactions } of blocks)
    for (const [position, tx] of transactions.entries()) {
      if (tx.receipt.statusCode !== 'SUCCESS' || tx.delay !== 0n) continue
      for (const { funcName, content } of tx.receipt.receipts) {
        const kind = /^token\.iost\/(transfer|transferFreeze|issue|destroy)$/.exec(funcName)?.[1]
        if (kind === undefined) continue
        const [token = '', first = '', second = '', third = ''] = (JSON.parse(content) as unknown[]).map(String)
        const isOwn = height > 0 && position === 0 && token === 'contribute'
        const date = plainDate(time)
        if (kind === 'issue') yield { date, kind, token, from: '', to: first, amount: toUnits(second, 18), isOwn }
        else if (kind === 'destroy')
          yield { date, kind, token, from: first, to: '', amount: toUnits(second, 18), isOwn }
        else yield { date, kind, token, from: first, to: second, amount: toUnits(third, 18), isOwn }
      }
    }
}

/** The days with activity of each token, by `token/date`. */
export function plainTokenDays(blocks: Iterable<Block>): ReadonlyMap<string, PlainTokenDay> {
  const days = new Map<string, PlainTokenDay>()
  for (const { date, kind, token, amount } of movedIn(blocks)) {
    const id = `${token}/${date}`
    const day = days.get(id) ?? { transfers: 0, volume: 0n, issued: 0n, destroyed: 0n }
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

type PlainFlows = { in: bigint; out: bigint; movements_in: number; movements_out: number }

/** The amounts an owner received and sent on each day, by date, in the smallest unit of the token. */
export function plainFlows({ changes, times }: PlainPast, id: string): ReadonlyMap<string, PlainFlows> {
  const days = new Map<string, PlainFlows>()
  for (const { height, change } of changes.get(id) ?? []) {
    const date = plainDate(times[height] ?? 0n)
    const day = days.get(date) ?? { in: 0n, out: 0n, movements_in: 0, movements_out: 0 }
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
