import { expect, test } from 'bun:test'
import { type RebuiltBlock, rebuildBlock } from '#audit/source.ts'
import type { Block } from '#chain/block.ts'
import { decodeBlock } from '#chain/decode.ts'
import { blockDocument, transactionDocuments } from '#derive/derive-block.ts'
import type { State } from '#derive/state.ts'
import { forgedChain } from '#test/support/nodes/forged-chain.ts'
import { recording } from '#test/support/nodes/recording.ts'

const HEIGHT = 1201
/** Bytes that are no character, as the text of a forged block has them. */
const LOST = /(?:\\udc[89a-f][0-9a-f])+/g

/**
 * The recorded block with other messages in its receipts, by the position of the transaction, and with the hashes that
 * belong to them, rebuilt from the documents of the store: there the node's JSON shows `shown` for the lost bytes.
 */
async function rebuilt(
  messages: Readonly<Record<number, string>>,
  shown: string,
  { lost = LOST, wrong = {} }: { readonly lost?: RegExp; readonly wrong?: Partial<Block> } = {},
): Promise<RebuiltBlock> {
  const forgery: Parameters<typeof forgedChain>[1] = {
    height: HEIGHT,
    rehashed: true,
    alter: ({ transactions }) => {
      for (const [at, tx] of transactions.entries()) tx.tx_receipt['message'] = messages[at] ?? tx.tx_receipt['message']
    },
  }
  const text = forgedChain(await recording(), forgery, HEIGHT).blockText(HEIGHT) ?? ''
  const block = { ...decodeBlock(text.replaceAll(lost, shown)), ...wrong }
  const { height, parentHash } = block
  const doc = blockDocument({ state: { get: () => undefined } as unknown as State, block })
  return rebuildBlock(doc, transactionDocuments(block), { height, parentHash })
}

const CUT = 'within a \udce6\udc96'

test('rebuildBlock: a receipt stored with lost bytes is proved by the root of the receipts', async () => {
  // Some JSON writers replace each byte, others the whole run of bytes.
  for (const shown of ['\ufffd\ufffd', '\ufffd']) {
    const { block: again, proved } = await rebuilt({ 1: CUT }, shown)
    expect([again.transactions[1]?.receipt.message, proved]).toEqual([`within a ${shown}`, true])
  }
})

test('rebuildBlock: lost bytes that nothing stored can restore are no damage, and are not proved', async () => {
  expect((await rebuilt({ 1: 'in \udce6\udc96 the middle' }, '\ufffd\ufffd')).proved).toBe(false)
  expect((await rebuilt({ 1: CUT, 2: CUT }, '\ufffd\ufffd')).proved).toBe(false)
})

test('rebuildBlock: lost bytes excuse differences in receipts only', async () => {
  const lost = /within a (?:\\udc[89a-f][0-9a-f])+/g
  await expect(rebuilt({ 1: CUT }, 'all is well', { lost })).rejects.toThrow(
    `Block ${HEIGHT}: merkle root of its receipts is`,
  )
  const parentHash = 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ'
  for (const wrong of [{ witness: 'another' }, { parentHash }])
    await expect(rebuilt({ 1: CUT }, '\ufffd', { lost, wrong })).rejects.toThrow('its head does not have the hash')
})
