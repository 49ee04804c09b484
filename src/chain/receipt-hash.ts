import type { TxReceipt } from './block.ts'
import { sha3 } from './hash.ts'
import { encodeSimple } from './raw-head.ts'

/** go-iost core/tx StatusCode, whose numbers are part of what is hashed. */
const STATUS_CODES: readonly string[] = [
  'SUCCESS',
  'GAS_RUN_OUT',
  'BALANCE_NOT_ENOUGH',
  'WRONG_PARAMETER',
  'RUNTIME_ERROR',
  'TIMEOUT',
  'WRONG_TX_FORMAT',
  'DUPLICATE_SET_CODE',
  'UNKNOWN_ERROR',
]

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/**
 * Hash of a transaction's receipt (go-iost core/tx, TxReceipt.ToBytes): a leaf of the block's receipt tree. `txHash` is
 * the transaction's, as bytes. undefined: a status the chain does not have.
 */
export const receiptHash = (txHash: Uint8Array, receipt: TxReceipt): Uint8Array | undefined => {
  const code = STATUS_CODES.indexOf(receipt.statusCode)
  if (code < 0) return undefined
  const ram = [...receipt.ramUsage].sort(([a], [b]) => byBytes(a, b))
  return sha3(
    encodeSimple([
      txHash,
      receipt.gasUsage,
      encodeSimple([code, receipt.message]),
      ram.length,
      ...ram.flat(),
      receipt.returns.length,
      ...receipt.returns,
      receipt.receipts.length,
      ...receipt.receipts.map(({ funcName, content }) => encodeSimple([funcName, content])),
    ]),
  )
}
