import { expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { encodeBase58 } from '#chain/base58.ts'
import type { Block, Transaction } from '#chain/block.ts'
import { checkBaseTransaction, checkBlock, lossyReceipts } from '#chain/check.ts'
import { hashBytes, sha3OfPair, merkleRoot } from '#chain/hash.ts'
import { headHash } from '#chain/head.ts'
import { receiptHash } from '#chain/receipt-hash.ts'

async function blockAt(height: number): Promise<Block> {
  const loaded = (await recordedBlocks())[height]
  if (loaded === undefined) throw new Error(`No block ${height}.`)
  return loaded.block
}

test('checkBlock, checkBaseTransaction: every recorded block is valid and follows its parent', async () => {
  let parent: Block | undefined
  for (const { block } of await recordedBlocks()) {
    checkBlock(block, { parentHash: parent?.hash, height: (parent?.height ?? -1) + 1 })
    if (parent !== undefined) checkBaseTransaction(block, parent)
    parent = block
  }
  expect(parent?.height).toBe(4851)
})

const withTransaction = (block: Block, index: number, change: (tx: Transaction) => Transaction): Block => ({
  ...block,
  transactions: block.transactions.map((tx, at) => (at === index ? change(tx) : tx)),
})
const OTHER = 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ'

const BROKEN: readonly (readonly [string, (block: Block) => Block, RegExp])[] = [
  ['another height', block => ({ ...block, height: 1202 }), /^Block 1202: block 1201 was requested\.$/],
  ['no hash', block => ({ ...block, hash: '' }), /^Block 1201: hash "" is not a hash\.$/],
  ['no parent hash', block => ({ ...block, parentHash: '' }), /^Block 1201: parent hash "" is not a hash\.$/],
  [
    'another parent',
    block => ({ ...block, parentHash: OTHER }),
    /^Block 1201: parent hash is HYZK\w+, block 1200 has \w+\.$/,
  ],
  [
    'a transaction missing',
    block => ({ ...block, transactions: block.transactions.slice(1) }),
    /^Block 1201: 3 of 4 transactions\.$/,
  ],
  [
    'a transaction missing in the count too',
    block => ({ ...block, transactions: block.transactions.slice(0, 3), txCount: 3 }),
    /^Block 1201: merkle root of its transactions is \w+, but its head has \w+\.$/,
  ],
  [
    'transactions in another order',
    block => ({ ...block, transactions: block.transactions.toReversed() }),
    /^Block 1201: merkle root of its transactions is \w+, but its head has \w+\.$/,
  ],
  [
    'a transaction without hash',
    block => withTransaction(block, 1, tx => ({ ...tx, hash: 'x' })),
    /^Block 1201: transaction hash "x" is not a hash\.$/,
  ],
  [
    'a transaction of another hash',
    block => withTransaction(block, 1, tx => ({ ...tx, hash: OTHER })),
    /^Block 1201: merkle root of its transactions is/,
  ],
  ...(
    [
      ['gas', { gasUsage: 1n }],
      ['RAM', { ramUsage: [['admin', 1n]] }],
      ['message', { message: 'x' }],
      ['status', { statusCode: 'TIMEOUT' }],
      ['returns', { returns: [] }],
      ['receipts', { receipts: [{ funcName: 'token.iost/transfer', content: '["iost","a","b","1",""]' }] }],
    ] as const
  ).map(
    ([name, change]) =>
      [
        `another ${name} in a receipt`,
        (block: Block) => withTransaction(block, 1, tx => ({ ...tx, receipt: { ...tx.receipt, ...change } })),
        /^Block 1201: merkle root of its receipts is \w+, but its head has \w+\.$/,
      ] as const,
  ),
  [
    'a status that is none',
    block => withTransaction(block, 0, tx => ({ ...tx, receipt: { ...tx.receipt, statusCode: 'FINE' } })),
    /^Block 1201: transaction \w+ has status "FINE", which is not a status\.$/,
  ],
  [
    'a first transaction of somebody else',
    block => withTransaction(block, 0, tx => ({ ...tx, publisher: 'admin' })),
    /^Block 1201: first transaction is published by "admin", not by base\.iost\.$/,
  ],
]
test.each(BROKEN)('checkBlock: %s is detected', async (_, change, message) => {
  const parent = await blockAt(1200)
  const block = await blockAt(1201)
  checkBlock(block, { parentHash: parent.hash, height: 1201 })
  expect(() => checkBlock(change(block), { parentHash: parent.hash, height: 1201 })).toThrow(message)
})

/**
 * A recorded block whose message of a transaction ends within a character, and the block as the node's JSON shows it.
 */
async function withLostBytes() {
  const message = `cut \udce6\udc96`
  const change = (tx: Transaction): Transaction => ({ ...tx, receipt: { ...tx.receipt, message } })
  const made = rerooted(withTransaction(await blockAt(1201), 1, change))
  const shown = withTransaction(made, 1, tx => ({
    ...tx,
    receipt: { ...tx.receipt, message: 'cut \ufffd\ufffd' },
  }))
  return { made, shown, lost: new Map(made.transactions.slice(1, 2).map(tx => [1, tx.receipt] as const)) }
}

/** A block with the roots and the hash recomputed from its parts. */
function rerooted(block: Block): Block {
  const hashes = block.transactions.map(({ hash }) => hashBytes(hash) ?? new Uint8Array())
  const leaves = block.transactions.map(
    ({ receipt }, at) => receiptHash(hashes[at] ?? new Uint8Array(), receipt) ?? new Uint8Array(),
  )
  const roots = { txMerkleHash: merkleRoot(hashes), txReceiptMerkleHash: merkleRoot(leaves) }
  const head = {
    ...roots,
    version: BigInt(block.version),
    parentHash: hashBytes(block.parentHash) ?? new Uint8Array(),
    info: Buffer.from('{}'),
    height: block.height,
    witness: block.witness,
    time: block.time,
  }
  return {
    ...block,
    txMerkleHash: encodeBase58(roots.txMerkleHash),
    txReceiptMerkleHash: encodeBase58(roots.txReceiptMerkleHash),
    hash: headHash(head),
  }
}

test("checkBlock: a receipt with lost bytes is proved by the raw block's receipt, and no other receipt is", async () => {
  const { made, shown, lost } = await withLostBytes()
  expect(() => checkBlock(shown, { parentHash: shown.parentHash })).toThrow('merkle root of its receipts')
  expect(lossyReceipts(shown)).toEqual([1])
  checkBlock(shown, { parentHash: shown.parentHash, height: 1201 }, { receipts: lost })
  checkBlock(made, { parentHash: made.parentHash })
  const forged = withTransaction(shown, 2, tx => ({
    ...tx,
    receipt: { ...tx.receipt, gasUsage: tx.receipt.gasUsage + 1n },
  }))
  expect(() => checkBlock(forged, { parentHash: shown.parentHash, height: 1201 }, { receipts: lost })).toThrow(
    'merkle root of its receipts',
  )
})

test('checkBlock: the JSON of a receipt with lost bytes must match the raw receipt in everything else', async () => {
  const { shown, lost } = await withLostBytes()
  for (const change of [
    { message: 'cut \ufffdx' },
    { gasUsage: 1n },
    { statusCode: 'TIMEOUT' },
    { ramUsage: [['admin', 1n]] },
    { returns: ['x'] },
    { receipts: [{ funcName: 'token.iost/transfer', content: '\ufffd' }] },
  ] as const) {
    const other = withTransaction(shown, 1, tx => ({ ...tx, receipt: { ...tx.receipt, ...change } }))
    expect(() => checkBlock(other, { parentHash: shown.parentHash, height: 1201 }, { receipts: lost })).toThrow(
      /receipt of transaction \w+ differs in the raw block/,
    )
  }
})

test('checkBlock: U+FFFD in the text of a transaction excuses no difference', async () => {
  const forged = withTransaction(
    withTransaction(await blockAt(1201), 1, tx => ({
      ...tx,
      body: tx.body.replace('"data":"', '"data":"\ufffd'),
    })),
    2,
    tx => ({ ...tx, receipt: { ...tx.receipt, gasUsage: 1n } }),
  )
  expect(() => checkBlock(forged, { parentHash: forged.parentHash })).toThrow('merkle root of its receipts')
})

const HEADS: readonly (readonly [string, Partial<Block>])[] = [
  ['time', { time: 1n }],
  ['witness', { witness: 'admin' }],
  ['version', { version: '2' }],
  ['info', { info: '{"mode":1,"thread":0,"batch_index":[]}' }],
  ['info of no form', { info: '{"mode":"x"}' }],
  ['orig_info', { origInfo: '{ }' }],
  ['hash', { hash: OTHER }],
]
test.each(HEADS)('checkBlock: another %s is detected by the hash', async (_, change) => {
  const block = await blockAt(1201)
  expect(() => checkBlock({ ...block, ...change }, { parentHash: block.parentHash })).toThrow(
    /^Block 1201: its head does not have the hash \w+\.$/,
  )
})

const BASE: readonly (readonly [string, Partial<Transaction>])[] = [
  ['time', { time: 1n }],
  ['expiration', { expiration: 1n }],
  ['gas ratio', { gasRatio: '2' }],
  ['gas limit', { gasLimit: '1' }],
  ['delay', { delay: 1n }],
  ['chain', { chainId: 1 }],
  ['actions', { actions: [] }],
  ['signers', { signers: ['admin@active'] }],
  ['referred transaction', { referredTx: OTHER }],
  ['limits', { amountLimit: [{ token: '*', value: 'unlimited' }] }],
]
test.each(BASE)(
  'checkBlock: another %s of the base transaction is detected by its hash',
  async (_, change) => {
    const block = await blockAt(1201)
    expect(() =>
      checkBlock(
        withTransaction(block, 0, tx => ({ ...tx, ...change })),
        { parentHash: block.parentHash },
      ),
    ).toThrow(/^Block 1201: base transaction \w+ has a text with the hash \w+\.$/)
  },
)

test('checkBlock: info is hashed in the forms that older nodes used', async () => {
  const block = await blockAt(1201)
  const head = {
    version: 1n,
    parentHash: hashBytes(block.parentHash) ?? new Uint8Array(),
    txMerkleHash: hashBytes(block.txMerkleHash) ?? new Uint8Array(),
    txReceiptMerkleHash: hashBytes(block.txReceiptMerkleHash) ?? new Uint8Array(),
    height: block.height,
    witness: block.witness,
    time: block.time,
  }
  for (const [info, shown, origInfo] of [
    ['{"mode":0,"thread":0,"batch":null}', '{}', ''],
    ['{"mode":0,"thread":0,"batch":null}', '{"mode":0,"thread":0,"batch_index":[]}', ''],
    ['{"mode":1,"thread":2,"batch":[3,4]}', '{"mode":1,"thread":2,"batch_index":[3,4]}', ''],
    ['anything', '{}', 'anything'],
  ] as const) {
    const old = { ...block, hash: headHash({ ...head, info: Buffer.from(info) }), info: shown, origInfo }
    checkBlock(old, { parentHash: block.parentHash })
    checkBlock(old, { parentHash: block.parentHash, height: 1201 }, { info: Buffer.from(info) })
    expect(() => checkBlock(old, { parentHash: block.parentHash, height: 1201 }, { info: Buffer.from('{ }') })).toThrow('its head')
  }
})

test('checkBaseTransaction: another witness or other gas of the parent is detected', async () => {
  const [parent, block] = [await blockAt(1200), await blockAt(1201)]
  expect(() => checkBaseTransaction(block, { ...parent, witness: 'x' })).toThrow(
    /^Block 1201: base transaction says witness \w+ and gas [0-9]+ of its parent, block 1200 has x and [0-9]+\.$/,
  )
  const cheap = withTransaction(parent, 1, tx => ({ ...tx, receipt: { ...tx.receipt, gasUsage: 0n } }))
  expect(() => checkBaseTransaction(block, cheap)).toThrow(/^Block 1201: base transaction says witness/)
  for (const data of ['', '[]', '[{}]', '{', '[{"parent":"x"}]']) {
    const silent = withTransaction(block, 0, tx => ({
      ...tx,
      actions: tx.actions.map(action => ({ ...action, data })),
    }))
    expect(() => checkBaseTransaction(silent, parent)).toThrow(
      'Block 1201: base transaction does not name the parent.',
    )
  }
})

test('merkleRoot: equals the root in the head of every recorded block', async () => {
  const wrong = (await recordedBlocks()).filter(
    ({ block }) =>
      encodeBase58(merkleRoot(block.transactions.map(({ hash }) => hashBytes(hash) ?? new Uint8Array()))) !==
      block.txMerkleHash,
  )
  expect(wrong).toEqual([])
})

test('merkleRoot: handles no leaf, one leaf and a missing right node', () => {
  const [a, b, c] = [new Uint8Array([1]), new Uint8Array([2]), new Uint8Array([3])]
  expect(merkleRoot([])).toEqual(new Uint8Array())
  expect(merkleRoot([a])).toEqual(sha3OfPair(a, a))
  expect(merkleRoot([a, b])).toEqual(sha3OfPair(a, b))
  expect(merkleRoot([a, b, c])).toEqual(sha3OfPair(sha3OfPair(a, b), sha3OfPair(c, c)))
})
