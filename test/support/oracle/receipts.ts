import type { Block, Receipt } from '#chain/block.ts'

/** The arguments in a receipt as texts; numbers keep their digits. */
export const argumentsOf = ({ content }: Pick<Receipt, 'content'>): readonly string[] =>
  (
    JSON.parse(content, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? context?.source : value,
    ) as readonly unknown[]
  ).map(String)

/**
 * The receipts of successful transactions whose names match, with their place and their arguments. `name`: the first
 * group of the pattern. Independent of `src/derive`.
 */
export function* readReceipts(blocks: Iterable<Block>, names: RegExp) {
  for (const { height, time, transactions } of blocks)
    for (const [position, tx] of transactions.entries())
      for (const receipt of tx.receipt.statusCode === 'SUCCESS' ? tx.receipt.receipts : []) {
        const [, name] = names.exec(receipt.funcName) ?? []
        if (name !== undefined) yield { height, time, position, tx, receipt, name, args: argumentsOf(receipt) }
      }
}

/** The names of receipts of movements of a token. */
export const MOVES = /^token\.iost\/(transfer|transferFreeze|issue|destroy)$/

/** `from`, `to`: '' for no party. `until`: when a frozen amount is due, in ns. */
type TokenMove = Readonly<Record<'kind' | 'token' | 'from' | 'to' | 'amount', string>> & { readonly until?: bigint }

/** What a receipt moved; undefined: nothing. */
export function moveOf(receipt: Receipt): TokenMove | undefined {
  const [, kind] = MOVES.exec(receipt.funcName) ?? []
  if (kind === undefined) return undefined
  const [token = '', first = '', second = '', third = '', fourth = ''] = argumentsOf(receipt)
  if (kind === 'issue') return { kind, token, from: '', to: first, amount: second }
  if (kind === 'destroy') return { kind, token, from: first, to: '', amount: second }
  const move = { kind, token, from: first, to: second, amount: third }
  return kind === 'transfer' ? move : { ...move, until: BigInt(fourth) }
}
