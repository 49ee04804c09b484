import type { PlainRow } from './plain-records.ts'

export type PlainFilter = {
  readonly direction?: 'in' | 'out'
  readonly counterparty?: string
  readonly token?: readonly string[]
  readonly func_name?: string
  readonly failed?: boolean
  readonly memo?: string
  readonly memo_prefix?: string
  readonly min_amount?: string
}

function partiesOf({ action, moved }: PlainRow): readonly [giver: unknown, taker: unknown] {
  if (moved === undefined) return [undefined, undefined]
  const [first, second] = moved.between
  if (action === 'issue') return [undefined, first]
  return action === 'destroy' ? [first, undefined] : [first, second]
}

function units(text: string): bigint {
  const [whole = '', part = ''] = text.split('.')
  return BigInt(whole + part.padEnd(18, '0'))
}

/** Whether a row passes the filter from the view of an account, or of anyone who deals with the counterparty. */
export function plainPasses(row: PlainRow, side: string | undefined, filter: PlainFilter): boolean {
  const { direction, counterparty, token, func_name, failed, memo, memo_prefix, min_amount } = filter
  const [giver, taker] = partiesOf(row)
  const [own, other] = direction === 'in' ? [taker, giver] : [giver, taker]
  const rules: readonly (boolean | undefined)[] = [
    direction && row.moved !== undefined && giver !== taker && own === (side ?? own),
    direction && counterparty !== undefined ? other === counterparty : undefined,
    counterparty === undefined ? undefined : isBetween(row, side, counterparty),
    token?.includes(row.facts.token ?? ''),
    token && side !== undefined ? giver === side || taker === side : undefined,
    func_name === undefined
      ? undefined
      : `${row.contract}/${row.action}` === func_name &&
        (side === undefined || (row.ownAction && row.publisher === side)),
    failed && row.status !== 'SUCCESS',
    memo === undefined ? undefined : row.facts.memo === memo,
    memo_prefix === undefined ? undefined : row.facts.memo?.startsWith(memo_prefix) === true,
    min_amount === undefined ? undefined : units(row.facts.amount ?? '-1') >= units(min_amount),
  ]
  return rules.every(rule => rule !== false)
}

/** Whether the counterparty of a row matches. For an account that only published the row, either party may match. */
function isBetween({ from, to }: PlainRow, side: string | undefined, other: string): boolean {
  if (side === undefined || (from !== side && to !== side)) return from === other || to === other
  return (from === side && to === other) || (to === side && from === other)
}
