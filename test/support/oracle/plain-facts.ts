import type { Receipt, Transaction } from '#chain/block.ts'

/** The fields of a row that describe its movement or the names in its call. */
export type PlainFacts = {
  readonly amount?: string
  readonly token?: string
  readonly memo?: string
  readonly locked_until?: string
  readonly collection?: string
  readonly token_id?: string
}

type Row = {
  readonly name: string
  readonly data: string
  /** Decimals of the tokens, by symbol. */
  readonly decimals: ReadonlyMap<string, number>
}

/**
 * Computed from receipts alone. `own`: the receipt of the row's movement, if any. For a call, all receipts of
 * its transaction are searched.
 */
export function plainFacts(
  tx: Transaction,
  own: Pick<Receipt, 'funcName' | 'content'> | undefined,
  { name, data, decimals }: Row,
): PlainFacts {
  if (own === undefined) {
    if (name.startsWith('token721.iost/')) return nftOf(tx, name, data)
    const amount = tx.receipt.statusCode === 'SUCCESS' ? amountOfCall(tx, name, data) : undefined
    return amount === undefined ? {} : { amount }
  }
  if (!own.funcName.startsWith('token.iost/')) return {}
  const args = JSON.parse(own.content) as readonly unknown[]
  const token = String(args[0])
  const isShort = /\/(?:issue|destroy)$/.test(own.funcName)
  const amount = plain(String(args[isShort ? 2 : 3]), decimals.get(token) ?? 8)
  if (isShort) return { amount, token }
  const isFrozen = own.funcName.endsWith('Freeze')
  // The time has more digits than a double can hold.
  const until = /,(-?\d+),"(?:[^"\\]|\\.)*"\]$/.exec(own.content)?.[1]
  return {
    ...{ amount, token, memo: String(args[isFrozen ? 5 : 4]) },
    ...(isFrozen ? { locked_until: until ?? 'none' } : {}),
  }
}

/** The NFT of an action with its receipt; the id of an issued one is what the action returned. */
function nftOf(tx: Transaction, name: string, data: string): PlainFacts {
  if (!tx.receipt.receipts.some(({ funcName, content }) => funcName === name && content === data)) return {}
  const [collection = '', , , id = ''] = JSON.parse(data) as readonly string[]
  if (name.endsWith('/transfer')) return { collection, token_id: id }
  if (!name.endsWith('/issue')) return {}
  const at = tx.actions.findIndex(action => action.actionName === 'issue' && action.data === data)
  return { collection, token_id: String(JSON.parse(tx.receipt.returns[at] ?? '[]')[0]) }
}

/** The content of the receipt of a vote or pledge, or the RAM of a trade. */
function amountOfCall(tx: Transaction, name: string, data: string): string | undefined {
  const said = (funcName: string) =>
    tx.receipt.receipts
      .filter(receipt => receipt.funcName === funcName)
      .map(({ content }) => JSON.parse(content) as readonly string[])
  const [first, second, third] = JSON.parse(data) as readonly unknown[]
  if (/^(?:gas\.iost\/(?:un)?pledge|vote_producer\.iost\/(?:un)?vote)$/.test(name)) {
    const own = said(name).find(args => args[0] === first && args[1] === second && Number(args[2]) === Number(third))
    return plain(own?.[2] ?? 'none', 8)
  }
  if (!/^ram\.iost\/(?:buy|sell)$/.test(name)) return undefined
  const isBuy = name.endsWith('buy')
  const [from, to] = isBuy ? ['ram.iost', second] : [first, 'ram.iost']
  const moved = said('token.iost/transfer').find(
    args => args[0] === 'ram' && args[1] === from && args[2] === to && Number(args[3]) === third,
  )
  return plain(moved?.[3] ?? 'none', 0)
}

/** `"0012.34500"` with 2 decimals is `"12.34"`. */
function plain(text: string, decimals: number): string {
  const [whole = '', part = ''] = text.split('.')
  const fraction = part.slice(0, decimals).replace(/0+$/, '')
  return `${whole.replace(/^0+(?=.)/, '')}${fraction === '' ? '' : `.${fraction}`}`
}
