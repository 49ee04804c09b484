import { expect, test } from 'bun:test'
import { recordedBlocks } from '#test/recording.ts'
import { encodeBase58 } from './base58.ts'
import type { Block, Transaction } from './block.ts'
import { checkBaseTransaction, checkBlock } from './check.ts'
import { hashBytes, sha3 } from './hash.ts'
import { merkleRoot } from './merkle.ts'

const blockAt = async (height: number): Promise<Block> => {
  const loaded = (await recordedBlocks())[height]
  if (loaded === undefined) throw new Error(`No block ${height}.`)
  return loaded.block
}

test('checkBlock, checkBaseTransaction: every recorded block is whole and follows its parent', async () => {
  let parent: Block | undefined
  for (const { block } of await recordedBlocks()) {
    checkBlock(block, parent?.hash, (parent?.height ?? -1) + 1)
    if (parent !== undefined) checkBaseTransaction(block, parent)
    parent = block
  }
  expect(parent?.height).toBe(4851)
}, 30_000)

const withTransaction = (block: Block, index: number, change: (tx: Transaction) => Transaction): Block => ({
  ...block,
  transactions: block.transactions.map((tx, at) => (at === index ? change(tx) : tx)),
})
const OTHER = 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ'

const BROKEN: readonly (readonly [string, (block: Block) => Block, RegExp])[] = [
  ['another height', block => ({ ...block, height: 1202 }), /^Block 1202: block 1201 was asked\.$/],
  ['no hash', block => ({ ...block, hash: '' }), /^Block 1201: hash "" is none\.$/],
  ['no parent hash', block => ({ ...block, parentHash: '' }), /^Block 1201: parent hash "" is none\.$/],
  [
    'another parent',
    block => ({ ...block, parentHash: OTHER }),
    /^Block 1201: parent hash is HYZK\w+, block 1200 has \w+\.$/,
  ],
  [
    'a transaction missing',
    block => ({ ...block, transactions: block.transactions.slice(1) }),
    /^Block 1201: 3 transactions of 4\.$/,
  ],
  [
    'a transaction missing in the count too',
    block => ({ ...block, transactions: block.transactions.slice(0, 3), txCount: 3 }),
    /^Block 1201: merkle root of its transactions is \w+, its head says \w+\.$/,
  ],
  [
    'transactions in another order',
    block => ({ ...block, transactions: block.transactions.toReversed() }),
    /^Block 1201: merkle root of its transactions is \w+, its head says \w+\.$/,
  ],
  [
    'a transaction without hash',
    block => withTransaction(block, 1, tx => ({ ...tx, hash: 'x' })),
    /^Block 1201: transaction hash "x" is none\.$/,
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
        /^Block 1201: merkle root of its receipts is \w+, its head says \w+\.$/,
      ] as const,
  ),
  [
    'a status that is none',
    block => withTransaction(block, 0, tx => ({ ...tx, receipt: { ...tx.receipt, statusCode: 'FINE' } })),
    /^Block 1201: transaction \w+ has status "FINE", which is none\.$/,
  ],
  [
    'a first transaction of somebody else',
    block => withTransaction(block, 0, tx => ({ ...tx, publisher: 'admin' })),
    /^Block 1201: first transaction is of "admin", not of base\.iost\.$/,
  ],
]
test.each(BROKEN)('checkBlock: %s is noticed', async (_, change, message) => {
  const parent = await blockAt(1200)
  const block = await blockAt(1201)
  checkBlock(block, parent.hash, 1201)
  expect(() => checkBlock(change(block), parent.hash, 1201)).toThrow(message)
})

test('checkBlock: a receipt whose text lost bytes that are no UTF-8 is believed', async () => {
  const block = withTransaction(await blockAt(1201), 1, tx => ({
    ...tx,
    body: tx.body.replace('"message":""', '"message":"\ufffd"'),
    receipt: { ...tx.receipt, message: '\ufffd' },
  }))
  expect(() => checkBlock(block, block.parentHash)).not.toThrow()
})

test('checkBaseTransaction: another witness or other gas of the parent is noticed', async () => {
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

test('merkleRoot: of every recorded block it is the one in its head', async () => {
  const wrong = (await recordedBlocks()).filter(
    ({ block }) =>
      encodeBase58(merkleRoot(block.transactions.map(({ hash }) => hashBytes(hash) ?? new Uint8Array()))) !==
      block.txMerkleHash,
  )
  expect(wrong).toEqual([])
})

test('merkleRoot: none, one, and a missing right node', () => {
  const [a, b, c] = [new Uint8Array([1]), new Uint8Array([2]), new Uint8Array([3])]
  expect(merkleRoot([])).toEqual(new Uint8Array())
  expect(merkleRoot([a])).toEqual(sha3(a, a))
  expect(merkleRoot([a, b])).toEqual(sha3(a, b))
  expect(merkleRoot([a, b, c])).toEqual(sha3(sha3(a, b), sha3(c, c)))
})
