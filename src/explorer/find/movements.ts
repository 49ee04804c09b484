import { getTokenDetail } from '#actions/get-token.ts'
import { getTransactionRecords, getTransactions } from '#actions/get-transaction.ts'
import { formatUnits, parseUnits } from '#chain/amount.ts'
import { AMOUNT_AT, parseChainArguments, splitFuncName } from '#chain/effects.ts'
import { catchKinds } from '#failure/failure.ts'
import { listNftMovements, listTokenMovements, type TokenMovement, type TransactionMovement } from '../format/record.ts'
import { isDelayed, type TransactionDetail } from '../format/transaction.ts'
import type { Visit } from '../page.ts'
import { catchNotFound } from './known.ts'

type MovedRowsVisit = Pick<Visit, 'ask'>

/**
 * The movements of tokens and NFTs of transactions, by hash. Records cover published blocks; for later blocks, the
 * receipts contain the same movements. undefined: not known yet.
 */
export async function readTransactionMovements(
  visit: MovedRowsVisit,
  transactions: readonly TransactionDetail[],
): Promise<ReadonlyMap<string, readonly TransactionMovement[] | undefined>> {
  if (transactions.length === 0) return new Map()
  const tx_hashes = transactions.map(({ hash }) => hash).join(',')
  const known = await catchKinds(['loading', 'unavailable'], visit.ask(getTransactionRecords, { tx_hashes }))
  const rows = Map.groupBy(known?.records ?? [], ({ tx_hash }) => tx_hash)
  return new Map(
    await Promise.all(
      transactions.map(async tx => {
        // A transaction in the pool has no records, and may still move tokens.
        const isRecorded = known !== undefined && tx.tx_receipt.status_code !== undefined
        const moved = await (isRecorded ? listTokenMovements(rows.get(tx.hash) ?? []) : readReceiptMovements(visit, tx))
        return [tx.hash, moved && [...moved, ...listNftMovements(tx)]] as const
      }),
    ),
  )
}

/** The movements of tokens and NFTs of transactions in published blocks, by hash. Only receipts tell those of NFTs. */
export async function readPublishedMovements(
  { ask }: MovedRowsVisit,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, readonly TransactionMovement[]>> {
  if (hashes.length === 0) return new Map()
  const tx_hashes = hashes.join(',')
  const [{ records }, { transactions }] = await Promise.all([
    ask(getTransactionRecords, { tx_hashes }),
    ask(getTransactions, { tx_hashes }),
  ])
  const rows = Map.groupBy(records, ({ tx_hash }) => tx_hash)
  const nfts = new Map(
    transactions.flatMap(found =>
      found === null ? [] : [[found.transaction.hash, listNftMovements(found.transaction)]],
    ),
  )
  return new Map(hashes.map(hash => [hash, [...listTokenMovements(rows.get(hash) ?? []), ...(nfts.get(hash) ?? [])]]))
}

async function readReceiptMovements(
  visit: MovedRowsVisit,
  tx: TransactionDetail,
): Promise<readonly TokenMovement[] | undefined> {
  const { status_code, receipts = [] } = tx.tx_receipt
  if (status_code === undefined) return undefined
  if (status_code !== 'SUCCESS' || isDelayed(tx)) return []
  const moving = receipts.flatMap(parseMovingReceipt)
  // The contribute that rewards the previous block is not a movement of this one.
  const own = tx.publisher === 'base.iost' && moving.at(-1)?.token === 'contribute' ? moving.slice(0, -1) : moving
  const tokens = new Set(own.map(({ token }) => token))
  const found = await Promise.all(
    [...tokens].map(async token => [token, await catchNotFound(visit.ask(getTokenDetail, { token }))] as const),
  )
  const decimals = new Map(found.flatMap(([token, detail]) => (detail === undefined ? [] : [[token, detail.decimal]])))
  const rows = own.map(({ token, text, ...row }) => {
    const decimal = decimals.get(token)
    const units = decimal === undefined ? undefined : parseUnits(text, decimal)
    return decimal === undefined || units === undefined
      ? undefined
      : { ...row, token, amount: formatUnits(units, decimal) }
  })
  const read = rows.filter(row => row !== undefined)
  return read.length < rows.length ? undefined : listTokenMovements(read)
}

/** A receipt of token.iost that moved tokens. `text` is the amount in the receipt, which may have too many decimals. */
function parseMovingReceipt({ func_name, content }: { readonly func_name: string; readonly content: string }) {
  const { contract, name } = splitFuncName(func_name)
  const place = contract === 'token.iost' ? AMOUNT_AT.get(name) : undefined
  if (place === undefined) return []
  const data = parseChainArguments(content) ?? []
  const textAt = (at: number): string => {
    const text = data[at]
    return typeof text === 'string' ? text : ''
  }
  const from = name === 'issue' ? '' : textAt(1)
  const to = name === 'destroy' ? '' : textAt(name === 'issue' ? 1 : 2)
  return [{ action_name: name, data, from, to, token: textAt(0), text: textAt(place) }]
}
