import { listIn, written } from './json.ts'
import { frozenUntil, memoOf } from './record.ts'

/** Tokens that a transaction moved, from a receipt of token.iost. */
export type Movement = {
  readonly token: string
  /** `""`: they were issued. */
  readonly from: string
  /** `""`: they were destroyed. */
  readonly to: string
  readonly amount: string
  readonly memo: string
  /** Nanoseconds since 1970 until which the receiver cannot use them; undefined: at once. */
  readonly until: string | undefined
}

type Receipt = { readonly func_name: string; readonly content: string }

/** Where sender, receiver and amount stand behind the token; -1: there is none. */
const PLACES = new Map([
  ['transfer', { from: 1, to: 2, amount: 3 }],
  ['transferFreeze', { from: 1, to: 2, amount: 3 }],
  ['issue', { from: -1, to: 1, amount: 2 }],
  ['destroy', { from: 1, to: -1, amount: 2 }],
])

/** What a transaction moved, in order. One that failed moved nothing, even where old ones have receipts. */
export const movementsOf = (receipt: {
  readonly status_code?: string
  readonly receipts?: readonly Receipt[]
}): readonly Movement[] =>
  receipt.status_code === 'SUCCESS' ? (receipt.receipts ?? []).flatMap(movementIn) : []

const movementIn = ({ func_name, content }: Receipt): readonly Movement[] => {
  const [contract, name = ''] = func_name.split('/')
  const places = contract === 'token.iost' ? PLACES.get(name) : undefined
  const args = places && listIn(content)
  if (places === undefined || args === undefined) return []
  const at = (place: number): string => (place < 0 ? '' : written(args[place] ?? ''))
  return [
    {
      token: at(0),
      from: at(places.from),
      to: at(places.to),
      amount: at(places.amount),
      memo: memoOf(name, args),
      until: frozenUntil(name, args),
    },
  ]
}
