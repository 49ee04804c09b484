import { expect, test } from 'bun:test'
import { type RebuiltBlock, rebuildBlock } from '#audit/source.ts'
import { encodeBase58 } from '#chain/base58.ts'
import type { Block } from '#chain/block.ts'
import { merkleRoot } from '#chain/check.ts'
import { hashBytes } from '#chain/hash.ts'
import { headHash } from '#chain/head.ts'
import { receiptHash } from '#chain/receipt-hash.ts'
import { blockDocument, transactionDocuments } from '#derive/derive-block.ts'
import type { State } from '#derive/state.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'

const HEIGHT = 1201
const NOTHING = new Uint8Array()

/** Messages of receipts by the position of the transaction: lone surrogates stand for bytes that are no character. */
type Messages = Readonly<Record<number, string>>

/** The recorded block with other messages in the receipts, and with the hashes that belong to them. */
async function blockWith(messages: Messages): Promise<Block> {
  const block = (await recordedBlocks())[HEIGHT]?.block
  if (block === undefined) throw new Error('The block is not recorded.')
  const transactions = block.transactions.map((tx, at) => ({
    ...tx,
    receipt: { ...tx.receipt, message: messages[at] ?? tx.receipt.message },
  }))
  const bytes = (hash: string) => hashBytes(hash) ?? NOTHING
  const root = merkleRoot(transactions.map(({ hash, receipt }) => receiptHash(bytes(hash), receipt) ?? NOTHING))
  const hash = headHash({
    version: BigInt(block.version),
    parentHash: bytes(block.parentHash),
    txMerkleHash: bytes(block.txMerkleHash),
    txReceiptMerkleHash: root,
    info: Buffer.from('{}'),
    height: block.height,
    witness: block.witness,
    time: block.time,
  })
  return { ...block, hash, txReceiptMerkleHash: encodeBase58(root), transactions }
}

/** The block rebuilt from the documents of the store: the node's JSON, with these messages in it. */
function rebuilt(block: Block, messages: Messages): RebuiltBlock {
  const transactions = block.transactions.map((tx, at) => {
    const message = `"message":${JSON.stringify(messages[at])}`
    return at in messages ? { ...tx, body: tx.body.replace(/"message": ?"[^"]*"/, () => message) } : tx
  })
  const { height, parentHash } = block
  const shown = { ...block, transactions }
  const doc = blockDocument({ state: { get: () => undefined } as unknown as State, block: shown })
  return rebuildBlock(doc, transactionDocuments(shown), { height, parentHash })
}

const CUT = 'within a \udce6\udc96'

test('rebuildBlock: a receipt stored with lost bytes is proved by the root of the receipts', async () => {
  const block = await blockWith({ 1: CUT })
  // Some JSON writers replace each byte, others the whole run of bytes.
  for (const shown of ['within a \ufffd\ufffd', 'within a \ufffd']) {
    const { block: again, proved } = rebuilt(block, { 1: shown })
    expect([again.transactions[1]?.receipt.message, proved]).toEqual([shown, true])
  }
})

test('rebuildBlock: lost bytes that nothing stored can restore are no damage, and are not proved', async () => {
  const one = await blockWith({ 1: 'in \udce6\udc96 the middle' })
  expect(rebuilt(one, { 1: 'in \ufffd\ufffd the middle' }).proved).toBe(false)
  const two = await blockWith({ 1: CUT, 2: CUT })
  const cut = 'within a \ufffd\ufffd'
  expect(rebuilt(two, { 1: cut, 2: cut }).proved).toBe(false)
})

test('rebuildBlock: lost bytes excuse differences in receipts only', async () => {
  const block = await blockWith({ 1: CUT })
  expect(() => rebuilt(block, { 1: 'all is well' })).toThrow(`Block ${HEIGHT}: merkle root of its receipts is`)
  for (const wrong of [{ witness: 'another' }, { parentHash: block.hash }])
    expect(() => rebuilt({ ...block, ...wrong }, { 1: '\ufffd' })).toThrow('its head does not have the hash')
})
