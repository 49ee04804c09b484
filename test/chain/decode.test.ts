import { expect, test } from 'bun:test'
import { decodeBlock, decodeBlockAnswer, decodeBlockTransactions, decodeChainInfo } from '#chain/decode.ts'
import { decodeRawHeads } from '#chain/head.ts'
import { recording, rpcAnswers } from '../support/nodes/recording.ts'

// `test/answers/history.ts` compares every recorded block, transaction and contract with the node's own object.

const textOf = async (height: number): Promise<string> => (await recording()).blockText(height) ?? ''

test('decodeBlock: without complete there are no transactions, but their count', async () => {
  const text = (await rpcAnswers()).get('GET /getBlockByNumber/1200/false') ?? ''
  const whole = decodeBlock(await textOf(1200))
  expect(decodeBlock(text)).toEqual({ ...whole, transactions: [] })
  expect(whole.txCount).toBe(20)
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

test.each([
  ['0', 0n],
  ['9035', 903500n],
  ['0.01', 1n],
  ['1234.5', 123450n],
  ['4000000.07', 400000007n],
])('decodeBlock: gas usage %s is kept as an integer × 100', async (written, gas) => {
  const text = (await textOf(1)).replace('"gas_usage":0, "ram_usage"', `"gas_usage":${written}, "ram_usage"`)
  expect(decodeBlock(text).transactions[0]?.receipt.gasUsage).toBe(gas)
})

test.each<readonly [string | RegExp, string, string]>([
  ['"number":"1"', '"number":1', 'block.number: 1 is not an integer in a string.'],
  ['"number":"1"', '"number":"9007199254740992"', 'block.number: "9007199254740992" is not a count below 2^53.'],
  ['"number":"1", ', '', 'block.number: nothing is not an integer in a string.'],
  [/"time":"[0-9]+"/, '"time":"9223372036854775808"', 'block.time: "9223372036854775808" is not within 64 bits.'],
  ['"tx_count":"1"', '"tx_count":null', 'block.tx_count: null is not an integer in a string.'],
  ['"witness":"', '"witness":7, "x":"', 'block.witness: 7 is not a text.'],
  ['"status":"IRREVERSIBLE"', '"status":"FINAL"', 'answer.status: "FINAL" is not PENDING or IRREVERSIBLE.'],
  ['"transactions":[', '"transactions":null, "x":[', 'block.transactions: null is not a list.'],
  ['"gas_ratio":1', '"gas_ratio":"1"', 'block.transactions[0].gas_ratio: "1" is not a number from 0.'],
  [
    '"gas_limit":1000000',
    '"gas_limit":1e21',
    'block.transactions[0].gas_limit: 1e+21 is not a decimal number without exponent.',
  ],
  ['"chain_id":1020', '"chain_id":1020.5', 'block.transactions[0].chain_id: 1020.5 is not an integer.'],
  ['"tx_receipt":{', '"tx_receipt":null, "x":{', 'block.transactions[0].tx_receipt: null is not an object.'],
  [
    '"gas_usage":0, "ram',
    '"gas_usage":0.001, "ram',
    'block.transactions[0].tx_receipt.gas_usage: 0.001 is not a number of at most two decimals.',
  ],
  [/$/, '}', 'getBlockByNumber: 1102 characters that are not JSON.'],
])('decodeBlock: %s as %s is refused with a message', async (from, to, message) => {
  const text = (await textOf(1)).replace(from, to)
  expect(() => decodeBlock(text)).toThrow(message)
})

test('decodeBlock: a long wrong value is shortened in the message', async () => {
  const text = (await textOf(1)).replace('"witness":"', `"witness":["${'x'.repeat(200)}"], "x":"`)
  expect(() => decodeBlock(text)).toThrow(`block.witness: ["${'x'.repeat(78)}… is not a text.`)
})

test('decodeChainInfo: reads heights and times without loss', async () => {
  const text = (await rpcAnswers()).get('GET /getChainInfo') ?? ''
  const [hash, time] = ['8psW23ozxC4SjoXeD2DSPWBNzR3Re9a3ei9Vu1C49sQg', 1795249532500320384n]
  expect(decodeChainInfo(text)).toEqual({
    ...{ chainId: 1020, netName: 'debugnet', headBlock: 4851, headHash: hash, headTime: time },
    ...{ libBlock: 4851, libHash: hash, libTime: time },
  })
  expect(() => decodeChainInfo(text.replace('"lib_block":"4851"', '"lib_block":4851'))).toThrow(
    'chain_info.lib_block: 4851 is not an integer in a string.',
  )
})

test.each([
  ['{}', 'answer.block_list: nothing is not a list.'],
  ['{"block_list":[{}]}', 'block_list[0].head: nothing is not an object.'],
  ['{"block_list":[{"head":{"version":1}}]}', 'block_list[0].head.version: 1 is not an integer in a string.'],
  ['{"block_list":[{"head":{"version":"1","parentHash":"a"}}]}', 'block_list[0].head.parentHash: "a" is not base64.'],
  ['<html>', 'getBlockHeaderByRange: 6 characters that are not JSON.'],
])('decodeRawHeads: %s is refused with a message', (text, message) => {
  expect(() => decodeRawHeads(text)).toThrow(message)
})
