/** A change of what an account has, as its books have it. */
export type Booking = {
  /** Of its block, ISO 8601 in UTC. */
  readonly time: string
  readonly token: string
  /** In token units, with `-` where the account gave it; never 0. */
  readonly change: string
  /** Available and frozen together after it; absent: it is not known. */
  readonly balance?: string
  readonly action: string
  readonly counterparty: string | null
  readonly memo: string | null
  readonly tx_hash: string | null
}

export const isGiven = ({ change }: Pick<Booking, 'change'>): boolean => change.startsWith('-')

/** `transfer to bobby: rent`, with what of it is known. */
export const descriptionOf = (booking: Booking): string => {
  const { action, counterparty, memo } = booking
  const other = counterparty === null ? '' : ` ${isGiven(booking) ? 'to' : 'from'} ${counterparty}`
  return `${action}${other}${memo === null || memo === '' ? '' : `: ${memo}`}`
}
