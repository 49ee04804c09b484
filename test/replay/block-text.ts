import { decodeBase58 } from '#chain/base58.ts'
import { elementSpans, memberSpans, type TextSpan } from '#chain/json-text.ts'

/**
 * Answers of the node, cut out of its answer to getBlockByNumber/{height}/true character by character, so
 * that replayed answers equal the recorded ones.
 */

const blockStart = (text: string): number => memberSpans(text).get('block')?.[0] ?? 0

function transactionSpans(text: string): readonly TextSpan[] {
  const list = memberSpans(text, blockStart(text)).get('transactions')
  return list === undefined ? [] : elementSpans(text, list[0])
}

/** The answer without `complete`: the same text, without its transactions. */
export function withoutTransactions(text: string): string {
  const list = memberSpans(text, blockStart(text)).get('transactions')
  return list === undefined ? text : `${text.slice(0, list[0])}[]${text.slice(list[1])}`
}

/** Answer of getTxByHash for a transaction of this block. */
export function transactionAnswer(text: string, height: number, index: number): string {
  const span = transactionSpans(text)[index] ?? [0, 0]
  return `{"status":"IRREVERSIBLE", "transaction":${text.slice(...span)}, "block_number":"${height}"}`
}

/** Answer of getTxReceiptByTxHash for a transaction of this block. */
export function receiptAnswer(text: string, index: number): string {
  const [start] = transactionSpans(text)[index] ?? [0, 0]
  return text.slice(...(memberSpans(text, start).get('tx_receipt') ?? [0, 0]))
}

type ActionFilter = { readonly contract: string; readonly action_name: string }
type WrittenTransaction = {
  readonly hash: string
  readonly actions: readonly { readonly contract: string; readonly action_name: string }[]
}

/**
 * A block's entry of getBlockTxsByContract: transactions with a matching action, so never those without
 * actions. undefined when there is none, because the node leaves such blocks out.
 */
export function filteredTransactions(text: string, height: number, filter: ActionFilter): string | undefined {
  const fitting = transactionSpans(text)
    .map(span => text.slice(...span))
    .filter(written =>
      (JSON.parse(written) as WrittenTransaction).actions.some(
        ({ contract, action_name }) =>
          (filter.contract === '' || contract === filter.contract) &&
          (filter.action_name === '' || action_name === filter.action_name),
      ),
    )
  return fitting.length === 0
    ? undefined
    : `{"status":"IRREVERSIBLE", "block_number":"${height}", "tx_list":[${fitting.join(', ')}]}`
}

/** Hashes of the block and of its transactions in order. */
export function hashesOf(text: string): { readonly block: string; readonly transactions: readonly string[] } {
  const { block } = JSON.parse(text) as { block: { hash: string; transactions: readonly { hash: string }[] } }
  return { block: block.hash, transactions: block.transactions.map(({ hash }) => hash) }
}

type WrittenHead = {
  readonly version: string
  readonly parent_hash: string
  readonly tx_merkle_hash: string
  readonly tx_receipt_merkle_hash: string
  readonly number: string
  readonly witness: string
  readonly time: string
}

const base64 = (hash: string): string => Buffer.from(decodeBase58(hash)).toString('base64')

/** Placeholder for an unknown signature of a block. */
export const NO_SIGN = '{"algorithm":0, "sig":"", "pubKey":""}'

/**
 * A block's entry of getBlockHeaderByRange. The block's JSON does not contain its `info`: it is empty for genesis and
 * `{}` for later blocks (derived from the hashes of the recorded chain). `sign` is the node's text.
 */
export function rawHead(text: string, sign: string): string {
  const { block } = JSON.parse(withoutTransactions(text)) as { block: WrittenHead }
  const info = block.number === '0' ? '' : Buffer.from('{}').toString('base64')
  return (
    `{"head":{"version":"${block.version}", "parentHash":"${base64(block.parent_hash)}", ` +
    `"txMerkleHash":"${base64(block.tx_merkle_hash)}", "txReceiptMerkleHash":"${base64(block.tx_receipt_merkle_hash)}", ` +
    `"info":"${info}", "number":"${block.number}", "witness":"${block.witness}", "time":"${block.time}"}, ` +
    `"sign":${sign}, "txs":[], "receipts":[], "txHashes":[], "receiptHashes":[], "blockType":"ONLYHASH"}`
  )
}

/** Signatures by height from an answer of getBlockHeaderByRange. */
export function signaturesIn(text: string): readonly (readonly [height: number, sign: string])[] {
  const list = memberSpans(text).get('block_list')
  if (list === undefined) return []
  return elementSpans(text, list[0]).map(([start]) => {
    const entry = memberSpans(text, start)
    const number = memberSpans(text, entry.get('head')?.[0]).get('number') ?? [0, 0]
    return [Number(JSON.parse(text.slice(...number))), text.slice(...(entry.get('sign') ?? [0, 0]))] as const
  })
}
