/** Id of the generated chain. */
export const CHAIN = 1024

/** Gas ratio, limit of ordinary transactions and limit of base ones, × 100 as in hash inputs. */
export const GAS_RATIO = 100
export const GAS_LIMIT = 400_000_000
export const BASE_GAS_LIMIT = 100_000_000

/**
 * A transaction is described twice: in the node's form (actions, receipts) and, for the truth, as effects and
 * parties. Code that reads the node's form must arrive at the same effects.
 */
type Action = {
  readonly contract: string
  readonly name: string
  readonly data: string
  /** The parties of the row. */
  readonly from: string
  readonly to: string
}
type Receipt = {
  readonly name: string
  readonly content: string
  /** Parties of the row of this receipt; absent: it has no row (no movement, or an action's own receipt). */
  readonly row?: readonly [from: string, to: string]
}

/** Amounts in the token's smallest unit; times in nanoseconds since 1970. */
export type Effect =
  | { readonly kind: 'create'; readonly token: string; readonly decimals: number }
  | {
      readonly kind: 'move'
      readonly token: string
      readonly from: string
      readonly to: string
      readonly units: bigint | number
    }
  | {
      readonly kind: 'freeze'
      readonly token: string
      readonly from: string
      readonly to: string
      readonly units: number
      readonly due: string
    }
  | { readonly kind: 'vote'; readonly voter: string; readonly producer: string; readonly units: number }
  | {
      readonly kind: 'nft'
      readonly collection: string
      /** `""` for an issue. */
      readonly from: string
      readonly to: string
    }
  | { readonly kind: 'ram'; readonly owner: string; readonly bytes: number }
  | { readonly kind: 'signUp'; readonly name: string; readonly creator: string }
  | { readonly kind: 'deploy'; readonly contract: string }
  | { readonly kind: 'producer'; readonly account: string }

/** Status texts by their number on the chain. */
export const STATUS = ['SUCCESS', 'GAS_RUN_OUT', 'BALANCE_NOT_ENOUGH', 'WRONG_PARAMETER', 'RUNTIME_ERROR'] as const
export const OK = 0
export const NO_BALANCE = 2
export const BROKEN = 4

export type Tx = {
  publisher: string
  /** Nanoseconds until the execution. If above 0, the transaction has no effects of its own. */
  readonly delay: number
  /** Hash of the delayed transaction that this one executes, otherwise empty. */
  readonly referred: string
  signers: readonly string[]
  /** Gas paid × 100. */
  gas: number
  status: number
  message: string
  readonly actions: Action[]
  readonly returns: string[]
  readonly receipts: Receipt[]
  readonly ram: (readonly [payer: string, bytes: number])[]
  readonly effects: Effect[]
}

export const emptyTx = (
  publisher: string,
  gas: number,
  { delay = 0, referred = '' }: Partial<Pick<Tx, 'delay' | 'referred'>> = {},
): Tx => ({
  publisher,
  delay,
  referred,
  signers: [],
  gas,
  status: OK,
  message: '',
  actions: [],
  returns: [],
  receipts: [],
  ram: [],
  effects: [],
})

/** An amount in smallest units as the chain writes it, without trailing zeros. */
export function amountText(units: number | bigint, decimals: number): string {
  if (decimals === 0) return String(units)
  const digits = String(units).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  let end = digits.length
  while (end > whole.length && digits.charCodeAt(end - 1) === 48) end -= 1
  return end === whole.length ? whole : `${whole}.${digits.slice(whole.length, end)}`
}
