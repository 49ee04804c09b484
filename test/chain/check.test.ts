import { describe, expect, test } from 'bun:test'
import type { Block, Transaction } from '#chain/block.ts'
import { checkBaseTransaction, checkBlock } from '#chain/check.ts'
import { decodeBlock, decodeRawBlock } from '#chain/decode.ts'
import { headHash } from '#chain/head.ts'
import { restoreCutMessage } from '#chain/receipt-hash.ts'
import type { Failure } from '#failure/failure.ts'
import { recordedBlocks, recording, rpcAnswers } from '../support/nodes/recording.ts'

async function blockAt(height: number): Promise<Block> {
  const loaded = (await recordedBlocks())[height]
  if (loaded === undefined) throw new Error(`No block ${height}.`)
  return loaded.block
}

const altering =
  (index: number, change: (tx: Transaction) => Partial<Transaction>) =>
  ({ transactions }: Block): Pick<Block, 'transactions'> => ({
    transactions: transactions.map((tx, at) => (at === index ? { ...tx, ...change(tx) } : tx)),
  })
const OTHER = 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ'

/** `test/proof/proof-table.test.ts` alters each field of a node's answer; here is what no answer of a block can be. */
test.each<readonly [string, (block: Block) => Partial<Block>, RegExp]>([
  ['another height', () => ({ height: 1202 }), /^Block 1202: block 1201 was requested\.$/],
  ['no hash', () => ({ hash: '' }), /^Block 1201: hash "" is not a hash\.$/],
  ['no parent hash', () => ({ parentHash: '' }), /^Block 1201: parent hash "" is not a hash\.$/],
  ['another parent', () => ({ parentHash: OTHER }), /^Block 1201: parent hash is HYZK\w+, block 1200 has \w+\.$/],
  [
    'a transaction missing',
    block => ({ transactions: block.transactions.slice(1) }),
    /^Block 1201: 3 of 4 transactions\.$/,
  ],
  [
    'a transaction without hash',
    altering(1, () => ({ hash: 'x' })),
    /^Block 1201: transaction hash "x" is not a hash\.$/,
  ],
  [
    'a status that is none',
    altering(0, ({ receipt }) => ({ receipt: { ...receipt, statusCode: 'FINE' } })),
    /^Block 1201: transaction \w+ has status "FINE", which is not a status\.$/,
  ],
  [
    'a first transaction of somebody else',
    altering(0, () => ({ publisher: 'admin' })),
    /^Block 1201: first transaction is published by "admin", not by base\.iost\.$/,
  ],
  ['info of no form', () => ({ info: '{"mode":"x"}' }), /^Block 1201: its head does not have the hash \w+\.$/],
])('checkBlock: %s is detected', async (_, change, message) => {
  const parent = await blockAt(1200)
  const block = await blockAt(1201)
  checkBlock(block, { parentHash: parent.hash, height: 1201 })
  expect(() => checkBlock({ ...block, ...change(block) }, { parentHash: parent.hash, height: 1201 })).toThrow(message)
})

test('checkBlock: info is hashed in the forms that older nodes used', async () => {
  const block = await blockAt(1201)
  const { head } = decodeRawBlock((await rpcAnswers()).get('GET /getRawBlockByNumber/1201/true') ?? '')
  for (const [info, shown, origInfo] of [
    ['{"mode":0,"thread":0,"batch":null}', '{}', ''],
    ['{"mode":0,"thread":0,"batch":null}', '{"mode":0,"thread":0,"batch_index":[]}', ''],
    ['{"mode":1,"thread":2,"batch":[3,4]}', '{"mode":1,"thread":2,"batch_index":[3,4]}', ''],
    ['anything', '{}', 'anything'],
  ] as const) {
    const old = { ...block, hash: headHash({ ...head, info: Buffer.from(info) }), info: shown, origInfo }
    const above = { parentHash: block.parentHash, height: 1201 }
    checkBlock(old, { parentHash: block.parentHash })
    checkBlock(old, above, { info: Buffer.from(info) })
    expect(() => checkBlock(old, above, { info: Buffer.from('{ }') })).toThrow('its head')
  }
})

test('checkBaseTransaction: another witness or other gas of the parent is detected', async () => {
  const [parent, block] = [await blockAt(1200), await blockAt(1201)]
  expect(() => checkBaseTransaction(block, { ...parent, witness: 'x' })).toThrow(
    /^Block 1201: base transaction says witness \w+ and gas [0-9]+ of its parent, block 1200 has x and [0-9]+\.$/,
  )
  const cheap = altering(1, ({ receipt }) => ({ receipt: { ...receipt, gasUsage: 0n } }))(parent)
  expect(() => checkBaseTransaction(block, { ...parent, ...cheap })).toThrow(
    /^Block 1201: base transaction says witness/,
  )
  for (const data of ['', '[]', '[{}]', '{', '[{"parent":"x"}]']) {
    const silent = altering(0, tx => ({ actions: tx.actions.map(action => ({ ...action, data })) }))(block)
    expect(() => checkBaseTransaction({ ...block, ...silent }, parent)).toThrow(
      'Block 1201: base transaction does not name the parent.',
    )
  }
})

// A node may write answers whose hashes all match although their meaning differs.

const HEIGHT = 1201
const truth = async (): Promise<string> => (await recording()).blockText(HEIGHT) ?? ''
/** The text with one place changed. The place must exist. */
function altered(text: string, from: string | RegExp, to: string): string {
  const other = text.replace(from, to)
  expect(other).not.toBe(text)
  return other
}
/** The error message for a block; undefined: the block is accepted. */
function refused(text: string): string | undefined {
  try {
    checkBlock(decodeBlock(text), { parentHash: undefined, height: HEIGHT })
    return undefined
  } catch (error) {
    const { kind, message } = error as Failure
    expect(kind).toBe('bad_block')
    return message
  }
}

describe('a lying node: halves of surrogate pairs', () => {
  test.each(['\\ud800', '\\uDCC3\\udca9', '\\ude00\\ud83d', '\\ud83dx'])('%s is refused', async half => {
    expect(refused(altered(await truth(), '"message":""', `"message":"${half}"`))).toMatch(
      /^getBlockByNumber: "\\\\u[dD]\w{3}" is not a whole character, and nodes write no other\.$/,
    )
  })
  test('whole characters are accepted, and so are texts that only resemble half of a pair', async () => {
    for (const whole of ['\\ud83d\\ude00', '\\\\ud800', '\\\\\\ud83d\\ude00', '\ufffd'])
      expect(decodeBlock(altered(await truth(), '"message":""', `"message":"${whole}"`)).height).toBe(HEIGHT)
  })
})

describe('a lying node: values that would be hashed as something else', () => {
  test('a referred transaction that is not base58 is refused, not hashed as a missing one', async () => {
    const text = await truth()
    for (const at of [/"referred_tx":""/, /"referred_tx":""(?!.*"referred_tx":"")/])
      expect(refused(altered(text, at, '"referred_tx":"0OIl"'))).toMatch(/referred_tx: "0OIl" is not base58\.$/)
  })
  test('a chain id of 32 bits is hashed without an error; a negative chain id is refused', async () => {
    const text = await truth()
    expect(refused(altered(text, '"chain_id":1020', '"chain_id":4294967295'))).toMatch(/base transaction/)
    expect(refused(altered(text, '"chain_id":1020', '"chain_id":-276'))).toMatch(
      /chain_id: -276 is not a number from 0/,
    )
  })
})

describe('a lying node: variations that JSON allows', () => {
  const LIES: readonly (readonly [string, string | RegExp, string])[] = [
    ['a name twice', '"publisher":"base.iost"', '"publisher":"admin", "publisher":"base.iost"'],
    ['a name in escapes', '"publisher":"base.iost"', '"\\u0070ublisher":"base.iost"'],
    ['a payer twice', /"ram_usage":\{("\w+"):("-?\d+")/, '"ram_usage":{$1:"77", $1:$2'],
    ['digits beyond a double', /"gas_limit":3000000\b/, '"gas_limit":3000000.00000000000000001'],
    ['an exponent', /"gas_limit":3000000\b/, '"gas_limit":3e6'],
    ['an unknown member of a list entry', '"func_name":', '"to":"admin", "func_name":'],
  ]
  test.each(LIES)('%s: never kept', async (_, from, to) => {
    const [height, text] = await recordedWith(from)
    const honest = decodeBlock(text).transactions.map(({ body }) => body)
    const block = decodeBlock(altered(text, from, to))
    checkBlock(block, { parentHash: undefined, height })
    expect(block.transactions.map(({ body }) => body)).toEqual(honest)
  })
})

async function recordedWith(what: string | RegExp): Promise<readonly [number, string]> {
  const chain = await recording()
  for (const { block } of await recordedBlocks()) {
    const text = chain.blockText(block.height) ?? ''
    if (block.height > 0 && text.search(what) >= 0) return [block.height, text]
  }
  throw new Error(`No recorded block has ${what}.`)
}

describe('a lying node: a message that seems cut costs a bounded time', () => {
  const triedFor = (message: string): number => {
    let tried = 0
    const receipt = { gasUsage: 0n, ramUsage: [], statusCode: 'RUNTIME_ERROR', message, returns: [], receipts: [] }
    restoreCutMessage(new Uint8Array(32), receipt, () => {
      tried += 1
      return false
    })
    return tried
  }
  test('every start of a character is tried for a short message, a few for a long one, none for the longest', () => {
    expect(triedFor('short \ufffd')).toBe(51 + 21 * 64 + 5 * 64 * 64)
    expect(triedFor(`${'x'.repeat(500_000)}\ufffd\ufffd\ufffd`)).toBeLessThan(140)
    expect(triedFor('not cut')).toBe(0)
  })
})
