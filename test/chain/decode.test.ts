import { expect, test } from 'bun:test'
import { encodeBase58 } from '#chain/base58.ts'
import {
  decodeBlock,
  decodeBlockAnswer,
  decodeBlockTransactions,
  decodeChainInfo,
  decodeContract,
} from '#chain/decode.ts'
import { decodeTransaction } from '#chain/decode-transaction.ts'
import { decodeRawHeads, headHash } from '#chain/head.ts'
import { recordedBlocks, recording, rpcAnswers } from '../support/nodes/recording.ts'

const textOf = async (height: number): Promise<string> => (await recording()).blockText(height) ?? ''

test("decodeBlock: every recorded block has the values of the node's answer", async () => {
  const { blockText } = await recording()
  const different: number[] = []
  for (const { block } of await recordedBlocks()) {
    const { block: said } = JSON.parse(blockText(block.height) ?? '')
    const again = {
      hash: block.hash,
      version: block.version,
      parent_hash: block.parentHash,
      tx_merkle_hash: block.txMerkleHash,
      tx_receipt_merkle_hash: block.txReceiptMerkleHash,
      number: String(block.height),
      witness: block.witness,
      time: String(block.time),
      gas_usage: 0,
      tx_count: String(block.txCount),
      info: block.info === '{}' ? null : JSON.parse(block.info),
      orig_info: block.origInfo,
      transactions: block.transactions.map(tx => ({
        hash: tx.hash,
        time: String(tx.time),
        expiration: String(tx.expiration),
        gas_ratio: Number(tx.gasRatio),
        gas_limit: Number(tx.gasLimit),
        delay: String(tx.delay),
        chain_id: tx.chainId,
        actions: tx.actions.map(({ contract, actionName, data }) => ({ contract, action_name: actionName, data })),
        signers: tx.signers,
        publisher: tx.publisher,
        referred_tx: tx.referredTx,
        amount_limit: tx.amountLimit,
        tx_receipt: {
          tx_hash: tx.hash,
          gas_usage: Number(tx.receipt.gasUsage) / 100,
          ram_usage: Object.fromEntries(tx.receipt.ramUsage.map(([payer, bytes]) => [payer, String(bytes)])),
          status_code: tx.receipt.statusCode,
          message: tx.receipt.message,
          returns: tx.receipt.returns,
          receipts: tx.receipt.receipts.map(({ funcName, content }) => ({ func_name: funcName, content })),
        },
      })),
    }
    if (!Bun.deepEquals(again, said, true)) different.push(block.height)
  }
  expect(different).toEqual([])
})

test('decodeTransaction: restores the transaction from a stored body', async () => {
  const transactions = (await recordedBlocks()).slice(2390, 2440).flatMap(({ block }) => block.transactions)
  expect(transactions.map(({ body }) => decodeTransaction(body))).toEqual(transactions)
})

test('decodeBlock: without complete there are no transactions, but their count', async () => {
  const text = (await rpcAnswers()).get('GET /getBlockByNumber/1200/false') ?? ''
  const whole = decodeBlock(await textOf(1200))
  expect(decodeBlock(text)).toEqual({ ...whole, transactions: [] })
  expect(whole.txCount).toBe(20)
})

test('decodeBlockTransactions: reads the blocks of a bulk answer, which lacks transactions without actions', async () => {
  const text = (await rpcAnswers()).get('POST /getBlockTxsByContract {"from_block":2425,"to_block":2525}') ?? ''
  expect(decodeBlockTransactions(text)).toEqual(
    (await recordedBlocks()).slice(2425, 2526).map(({ block }) => ({
      status: 'IRREVERSIBLE',
      height: block.height,
      transactions: block.transactions.filter(({ actions }) => actions.length > 0),
    })),
  )
})

test.each([
  ['a member that is not known', '"more":[{"a":[]}], "block_number"'],
  ['an empty list of the same name before', '"tx_list":[], "block_number"'],
  ['a list of other transactions of the same name before', '"tx_list":[{"hash":"x"}], "block_number"'],
])('decodeBlockTransactions: each transaction has its own text beside %s', async (_, written) => {
  const text = (await rpcAnswers()).get('POST /getBlockTxsByContract {"from_block":2425,"to_block":2525}') ?? ''
  const changed = text.replace('"block_number"', written)
  expect(changed).not.toBe(text)
  expect(decodeBlockTransactions(changed)).toEqual([...decodeBlockTransactions(text)])
  // Escapes are kept as written, so the text must be cut out of the answer.
  const escaped = (written: string): string => written.replaceAll('"SUCCESS"', '"\\u0053UCCESS"')
  const bodiesOf = (answer: string): readonly string[] =>
    decodeBlockTransactions(answer).flatMap(({ transactions }) => transactions.map(({ body }) => body))
  expect(bodiesOf(escaped(changed))).toEqual(bodiesOf(text).map(escaped))
})

test('decodeBlock: answers of older nodes are understood', async () => {
  const text = await textOf(1)
  const old = text
    .replace('"info":null, "orig_info":""', '"info":{"mode": 0, "thread":0, "batch_index":[ ]}')
    .replace(' "referred_tx":"",', '')
    .replace('"status_code"', '"unknown":{"a":[1]}, "status_code"')
  const { block } = decodeBlockAnswer(old)
  const [transaction] = block.transactions
  const today = decodeBlock(text)
  expect({ ...block, transactions: [{ ...transaction, body: '' }] }).toEqual({
    ...today,
    info: '{"mode":0,"thread":0,"batch_index":[]}',
    transactions: today.transactions.map(tx => ({ ...tx, body: '' })),
  })
  // The field is covered by no hash, so it is not kept. A field that older nodes omit is not invented.
  expect(transaction?.body).toBe(today.transactions[0]?.body.replace('"referred_tx":"",', '') ?? '')
})

test("decodeBlock: payers with any names keep the node's order", async () => {
  const text = (await textOf(1)).replace(
    '"ram_usage":{}',
    '"ram_usage":{"zz_zz":"1", "12345":"-67", "__proto__":"9223372036854775807", "00000":"-9223372036854775808"}',
  )
  expect(decodeBlock(text).transactions[0]?.receipt.ramUsage).toEqual([
    ['zz_zz', 1n],
    ['12345', -67n],
    ['__proto__', 9223372036854775807n],
    ['00000', -9223372036854775808n],
  ])
})

const GAS: readonly (readonly [string, bigint])[] = [
  ['0', 0n],
  ['9035', 903500n],
  ['0.01', 1n],
  ['1234.5', 123450n],
  ['4000000.07', 400000007n],
]
test.each(GAS)('decodeBlock: gas usage %s is kept as an integer × 100', async (written, gas) => {
  const text = (await textOf(1)).replace('"gas_usage":0, "ram_usage"', `"gas_usage":${written}, "ram_usage"`)
  expect(decodeBlock(text).transactions[0]?.receipt.gasUsage).toBe(gas)
})

/** Changes of block 1's answer, and the error message for each. */
const WRONG: readonly (readonly [string | RegExp, string, string])[] = [
  ['"number":"1"', '"number":1', 'block.number: 1 is not an integer in a string.'],
  ['"number":"1"', '"number":"-1"', 'block.number: "-1" is not a count below 2^53.'],
  ['"number":"1"', '"number":"01"', 'block.number: "01" is not an integer in a string.'],
  ['"number":"1"', '"number":"9007199254740992"', 'block.number: "9007199254740992" is not a count below 2^53.'],
  ['"number":"1", ', '', 'block.number: nothing is not an integer in a string.'],
  [/"time":"[0-9]+"/, '"time":"9223372036854775808"', 'block.time: "9223372036854775808" is not within 64 bits.'],
  [/"time":"[0-9]+"/, '"time":"1e18"', 'block.time: "1e18" is not an integer in a string.'],
  ['"tx_count":"1"', '"tx_count":null', 'block.tx_count: null is not an integer in a string.'],
  ['"witness":"', '"witness":7, "x":"', 'block.witness: 7 is not a text.'],
  ['"status":"IRREVERSIBLE"', '"status":"FINAL"', 'answer.status: "FINAL" is not PENDING or IRREVERSIBLE.'],
  ['"block":{', '"block":[], "x":{', 'block: [] is not an object.'],
  ['"transactions":[', '"transactions":null, "x":[', 'block.transactions: null is not a list.'],
  ['"transactions":[', '"transactions":[5, ', 'block.transactions[0]: 5 is not an object.'],
  ['"gas_ratio":1', '"gas_ratio":"1"', 'block.transactions[0].gas_ratio: "1" is not a number from 0.'],
  [
    '"gas_limit":1000000',
    '"gas_limit":1e21',
    'block.transactions[0].gas_limit: 1e+21 is not a decimal number without exponent.',
  ],
  ['"chain_id":1020', '"chain_id":1020.5', 'block.transactions[0].chain_id: 1020.5 is not an integer.'],
  ['"signers":[]', '"signers":[1]', 'block.transactions[0].signers[0]: 1 is not a text.'],
  ['"action_name":"exec"', '"action_name":null', 'block.transactions[0].actions[0].action_name: null is not a text.'],
  [
    '"amount_limit":[]',
    '"amount_limit":[{"token":"*"}]',
    'block.transactions[0].amount_limit[0].value: nothing is not a text.',
  ],
  ['"tx_receipt":{', '"tx_receipt":null, "x":{', 'block.transactions[0].tx_receipt: null is not an object.'],
  [
    '"gas_usage":0, "ram',
    '"gas_usage":0.001, "ram',
    'block.transactions[0].tx_receipt.gas_usage: 0.001 is not a number of at most two decimals.',
  ],
  [
    '"gas_usage":0, "ram',
    '"gas_usage":-1, "ram',
    'block.transactions[0].tx_receipt.gas_usage: -1 is not a number from 0.',
  ],
  [
    '"ram_usage":{}',
    '"ram_usage":{"admin":5}',
    'block.transactions[0].tx_receipt.ram_usage.admin: 5 is not an integer in a string.',
  ],
  [
    '"func_name":"token.iost/issue"',
    '"func_name":{}',
    'block.transactions[0].tx_receipt.receipts[0].func_name: {} is not a text.',
  ],
  [/$/, '}', 'getBlockByNumber: 1102 characters that are not JSON.'],
]
test.each(WRONG)('decodeBlock: %s as %s is refused with a message', async (from, to, message) => {
  const text = (await textOf(1)).replace(from, to)
  expect(() => decodeBlock(text)).toThrow(message)
})

test('decodeBlock: a long wrong value is shortened in the message', async () => {
  const text = (await textOf(1)).replace('"witness":"', `"witness":["${'x'.repeat(200)}"], "x":"`)
  expect(() => decodeBlock(text)).toThrow(`block.witness: ["${'x'.repeat(78)}… is not a text.`)
})

test('decodeChainInfo: reads heights and times without loss', async () => {
  const text = (await rpcAnswers()).get('GET /getChainInfo') ?? ''
  expect(decodeChainInfo(text).headTime).toBe(1795249532500320384n)
  expect(() => decodeChainInfo(text.replace('"lib_block":"4851"', '"lib_block":4851'))).toThrow(
    'chain_info.lib_block: 4851 is not an integer in a string.',
  )
})

test("decodeContract: every recorded contract has the values of the node's answer", async () => {
  const texts = [...(await rpcAnswers())]
    .filter(([call]) => call.startsWith('GET /getContract/'))
    .map(([, text]) => text)
  expect(texts.length).toBe(34)
  for (const text of texts) {
    const { id, language, version, abis } = JSON.parse(text)
    expect(decodeContract(text)).toEqual({ id, language, version, abis })
  }
})

test('headHash: of every recorded head is the hash of its block', async () => {
  const blocks = await recordedBlocks()
  const heads = [...(await rpcAnswers())]
    .filter(([call]) => call.startsWith('POST /getBlockHeaderByRange'))
    .flatMap(([, text]) => decodeRawHeads(text))
  expect(new Set(heads.map(({ height }) => height)).size).toBe(4852)
  expect(heads.filter(head => headHash(head) !== blocks[head.height]?.block.hash)).toEqual([])
  expect(heads.filter(head => encodeBase58(head.parentHash) !== blocks[head.height]?.block.parentHash)).toEqual([])
})

const ANSWERS: readonly (readonly [string, string])[] = [
  ['{}', 'answer.block_list: nothing is not a list.'],
  ['{"block_list":[{}]}', 'block_list[0].head: nothing is not an object.'],
  ['{"block_list":[{"head":{"version":1}}]}', 'block_list[0].head.version: 1 is not an integer in a string.'],
  ['{"block_list":[{"head":{"version":"1","parentHash":"a"}}]}', 'block_list[0].head.parentHash: "a" is not base64.'],
  ['<html>', 'getBlockHeaderByRange: 6 characters that are not JSON.'],
]
test.each(ANSWERS)('decodeRawHeads: %s is refused with a message', (text, message) => {
  expect(() => decodeRawHeads(text)).toThrow(message)
})
