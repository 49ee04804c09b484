import { encodeBase58 } from '#chain/base58.ts'
import type { Block } from '#chain/block.ts'
import { merkleRoot } from '#chain/check.ts'
import { decodeBlock } from '#chain/decode.ts'
import { hashBytes } from '#chain/hash.ts'
import { headHash } from '#chain/head.ts'
import { receiptHash } from '#chain/receipt-hash.ts'
import { toHashedTransaction, transactionHash } from '#chain/transaction-hash.ts'
import type { Recording } from '../../replay/recording.ts'

/** A block from JSON.parse, to be altered. */
export type Written = {
  hash: string
  parent_hash: string
  tx_merkle_hash: string
  tx_receipt_merkle_hash: string
  transactions: WrittenTransaction[]
  [field: string]: unknown
}
type WrittenTransaction = {
  hash: string
  actions: { contract: string; action_name: string; data: string }[]
  tx_receipt: {
    tx_hash: string
    receipts: { func_name: string; content: string }[]
    [field: string]: unknown
  }
  [field: string]: unknown
}

const NOTHING = new Uint8Array()
const bytes = (hash: string): Uint8Array => hashBytes(hash) ?? NOTHING

/** Bytes that are not valid UTF-8 are kept in the text (`encodeChainText`), because JSON has no escape for them. */
const decoded = (block: Written): Block =>
  decodeBlock(
    JSON.stringify({ status: 'IRREVERSIBLE', block }).replaceAll(/\\u(dc[89a-f][0-9a-f])/g, (_, code) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    ),
  )

/** Sets the parent hash, and the parent's witness and gas, in a block, as a forger of a chain has to. */
function setParent(written: Written, parent: Block): void {
  written.parent_hash = parent.hash
  const action = written.transactions[0]?.actions[0]
  const gas = parent.transactions.reduce((sum, { receipt }) => sum + receipt.gasUsage, 0n)
  if (action !== undefined) action.data = `[{"parent":["${parent.witness}", "${gas}", false]}]`
}

/** Recomputes every hash that can be computed without a key: of the base transaction, of the roots and of the block. */
function rehash(written: Written): void {
  const [base] = written.transactions
  for (const tx of written.transactions) tx.tx_receipt.tx_hash = tx.hash
  const text = decoded(written).transactions[0]
  if (base !== undefined && text !== undefined) {
    base.hash = encodeBase58(transactionHash(toHashedTransaction(text)))
    base.tx_receipt.tx_hash = base.hash
  }
  const block = decoded(written)
  const leaf = ({ hash, receipt }: Block['transactions'][number]): Uint8Array =>
    receiptHash(bytes(hash), receipt) ?? NOTHING
  const roots = {
    txMerkleHash: merkleRoot(block.transactions.map(({ hash }) => bytes(hash))),
    txReceiptMerkleHash: merkleRoot(block.transactions.map(leaf)),
  }
  written.tx_merkle_hash = encodeBase58(roots.txMerkleHash)
  written.tx_receipt_merkle_hash = encodeBase58(roots.txReceiptMerkleHash)
  written.hash = headHash({
    ...roots,
    version: BigInt(block.version),
    parentHash: bytes(block.parentHash),
    info: Buffer.from('{}'),
    height: block.height,
    witness: block.witness,
    time: block.time,
  })
}

export type Forgery = {
  readonly height: number
  readonly alter: (block: Written) => void
  /** Whether all hashes are recomputed, from this block to the end of the chain. */
  readonly rehashed: boolean
}

const readBlock = (recording: Recording, height: number): Written =>
  (JSON.parse(recording.blockText(height) ?? '') as { block: Written }).block

/** A recorded chain with one altered block. Signatures and raw blocks stay, because a forger can make neither. */
export function forgedChain(recording: Recording, forgery: Forgery, end: number): Recording {
  const texts = new Map<number, string>()
  let parent: Block | undefined
  for (let height = forgery.height; height <= (forgery.rehashed ? end : forgery.height); height += 1) {
    const written = readBlock(recording, height)
    if (parent !== undefined) setParent(written, parent)
    if (height === forgery.height) forgery.alter(written)
    if (forgery.rehashed) {
      rehash(written)
      parent = decoded(written)
    }
    texts.set(height, JSON.stringify({ status: 'IRREVERSIBLE', block: written }))
  }
  return { ...recording, height: end, blockText: height => texts.get(height) ?? recording.blockText(height) }
}

/** A change of one field, and the name of the field in the node's JSON. */
type Alteration = { readonly field: string; readonly alter: (block: Written) => void }

const OTHER = 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ'

const blockFields: Readonly<Record<string, unknown>> = {
  hash: OTHER,
  version: '2',
  parent_hash: OTHER,
  tx_merkle_hash: OTHER,
  tx_receipt_merkle_hash: OTHER,
  number: '77',
  witness: '7G6p3UntUeo9aVnxzdYskeYLmMDmF1mcqU8Vi1Svybmt',
  time: '1795247607500776201',
  gas_usage: 12.5,
  tx_count: '3',
  info: { mode: 1, thread: 0, batch_index: [1] },
  orig_info: '{ }',
  unknown: 'field',
}

const transactionFields: Readonly<Record<string, unknown>> = {
  hash: OTHER,
  time: '1795247607000000001',
  expiration: '1795247697000000001',
  gas_ratio: 1.01,
  gas_limit: 1000000.01,
  delay: '1',
  chain_id: 1024,
  signers: ['admin@active'],
  publisher: 'admin',
  referred_tx: OTHER,
  amount_limit: [{ token: 'iost', value: '1' }],
  unknown: 'field',
}

const receiptFields: Readonly<Record<string, unknown>> = {
  tx_hash: OTHER,
  gas_usage: 1.5,
  ram_usage: { admin: '7' },
  status_code: 'TIMEOUT',
  message: 'all is well',
  returns: ['["altered"]'],
  unknown: 'field',
}

const setting =
  (place: (block: Written) => object | undefined) =>
  (prefix: string, fields: Readonly<Record<string, unknown>>): readonly Alteration[] =>
    Object.entries(fields).map(([field, value]) => ({
      field: `${prefix}${field}`,
      alter: block => Object.assign(place(block) ?? {}, { [field]: value }),
    }))

function ofTransaction(prefix: string, index: number): readonly Alteration[] {
  const tx = ({ transactions }: Written): WrittenTransaction | undefined => transactions[index]
  return [
    ...setting(tx)(prefix, transactionFields),
    ...setting(block => tx(block)?.actions[0])(`${prefix}actions.`, {
      contract: 'token721.iost',
      action_name: 'issue',
      data: '["iost","admin","zero","1",""]',
      unknown: 'field',
    }),
    {
      field: `${prefix}actions`,
      alter: block => tx(block)?.actions.push({ contract: 'a', action_name: 'b', data: '' }),
    },
    ...setting(block => tx(block)?.tx_receipt)(`${prefix}tx_receipt.`, receiptFields),
    ...setting(block => tx(block)?.tx_receipt.receipts[0])(`${prefix}tx_receipt.receipts.`, {
      func_name: 'token.iost/destroy',
      content: '["iost","admin","zero","1",""]',
      unknown: 'field',
    }),
    { field: `${prefix}tx_receipt.receipts`, alter: block => tx(block)?.tx_receipt.receipts.pop() },
  ]
}

/** One alteration for every field of a block, of two transactions, and of their receipts. */
export const alterations: readonly Alteration[] = [
  ...setting(block => block)('', blockFields),
  { field: 'transactions, the last one left out', alter: block => block.transactions.pop() },
  {
    field: 'transactions, the last one left out and not counted',
    alter: block => {
      block.transactions.pop()
      block['tx_count'] = String(block.transactions.length)
    },
  },
  {
    field: 'transactions, in another order',
    alter: block => block.transactions.push(...block.transactions.splice(1, 1)),
  },
  ...ofTransaction('base transaction: ', 0),
  ...ofTransaction('transaction: ', 1),
]
