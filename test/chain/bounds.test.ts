import { describe, expect, test } from 'bun:test'
import {
  DEPTH,
  HASH,
  IN_GENESIS,
  IN_TRANSACTION,
  INFO,
  OF_EXECUTION,
  PUBLIC_KEY,
  RECEIPTS,
  WORD,
} from '#chain/bounds.ts'
import { decodeBlock, decodeRawBlock } from '#chain/decode.ts'
import { decodeRawHeads } from '#chain/head.ts'
import type { Failure } from '#failure/failure.ts'
import { recording, rpcAnswers } from '#test/support/nodes/recording.ts'

type Json = Record<string, unknown>

/** A block with values in all fields, as the node returns it. Each call parses a fresh copy. */
const answerOf = async (height = 2425): Promise<Json> => JSON.parse((await recording()).blockText(height) ?? '') as Json

const at = (answer: Json, path: readonly (string | number)[]): Record<string | number, unknown> =>
  path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], answer) as Record<
    string | number,
    unknown
  >

/** The message with which a block is refused; undefined: it is accepted. */
function refused(answer: Json | string): string | undefined {
  try {
    decodeBlock(typeof answer === 'string' ? answer : JSON.stringify(answer))
    return undefined
  } catch (error) {
    const { kind, message } = error as Failure
    expect([kind, message.length < 400]).toEqual(['bad_block', true])
    return message
  }
}

const TX = ['block', 'transactions', 1]
const RECEIPT = [...TX, 'tx_receipt']
const fieldsAt = (path: readonly (string | number)[], most: number, ...keys: readonly (string | number)[]) =>
  keys.map(key => [path, key, most] as const)
const TEXTS = [
  ...fieldsAt(['block'], HASH.most, 'hash', 'parent_hash', 'tx_merkle_hash', 'tx_receipt_merkle_hash'),
  ...fieldsAt(['block'], PUBLIC_KEY.most, 'witness'),
  ...fieldsAt(['block'], INFO.most, 'orig_info'),
  ...fieldsAt(TX, HASH.most, 'hash', 'referred_tx'),
  ...fieldsAt(TX, IN_TRANSACTION.most, 'publisher'),
  ...fieldsAt([...TX, 'actions', 0], IN_TRANSACTION.most, 'contract', 'action_name', 'data'),
  ...fieldsAt([...TX, 'amount_limit', 0], IN_TRANSACTION.most, 'token', 'value'),
  ...fieldsAt([...TX, 'signers'], IN_TRANSACTION.most, 0),
  ...fieldsAt(RECEIPT, WORD.most, 'status_code'),
  ...fieldsAt(RECEIPT, OF_EXECUTION.most, 'message'),
  ...fieldsAt([...RECEIPT, 'returns'], OF_EXECUTION.most, 0),
  ...fieldsAt([...RECEIPT, 'receipts', 0], IN_TRANSACTION.most, 'func_name'),
  ...fieldsAt([...RECEIPT, 'receipts', 0], OF_EXECUTION.most, 'content'),
]

const shownPath = (path: readonly (string | number)[]): string =>
  path
    .map(key => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .slice(1)

describe('bounds of a block that a node returns', () => {
  test('texts: the most characters are accepted, one more is refused by the name of the field', async () => {
    for (const [path, key, most] of TEXTS) {
      const answer = await answerOf()
      at(answer, path)[key] = 'x'.repeat(most)
      // A receipt contains the hash of its transaction.
      if (path.includes('transactions') && key === 'hash')
        Object.assign(at(answer, [...path, 'tx_receipt']), { tx_hash: 'x'.repeat(most) })
      const name = shownPath([...path, key])
      expect([name, refused(answer)]).toEqual([name, undefined])
      at(answer, path)[key] = 'x'.repeat(most + 1)
      expect(refused(answer)).toStartWith(`${name}: ${most + 1} characters are more than ${most}: `)
    }
  })

  test('integers in texts: ten million digits are refused without being read as a number', async () => {
    for (const [path, key] of [
      ...['version', 'time', 'number', 'tx_count'].map(name => [['block'], name] as const),
      ...['time', 'expiration', 'delay'].map(name => [TX, name] as const),
      [[...TX, 'tx_receipt', 'ram_usage'], 'alice00'],
    ] as const) {
      const answer = await answerOf()
      const name = shownPath([...path, key])
      const digits = name === 'block.time' ? 10_000_000 : 21
      at(answer, path)[key] = '9'.repeat(digits)
      expect(refused(answer)).toBe(
        `${name}: ${digits} characters are more than 20: 64 bits have at most 20 characters.`,
      )
      at(answer, path)[key] = '9223372036854775808'
      expect(refused(answer)).toEndWith('is not within 64 bits.')
    }
  })

  test('numbers: wider ones than the chain has are refused', async () => {
    for (const [path, key, wrong] of [
      [TX, 'chain_id', 2 ** 32],
      [TX, 'gas_limit', 1e13],
      [TX, 'gas_ratio', 1e13],
      [RECEIPT, 'gas_usage', 1e13],
    ] as const) {
      const answer = await answerOf()
      at(answer, path)[key] = wrong
      expect(refused(answer)).toStartWith(`${shownPath([...path, key])}: ${wrong} is not `)
    }
  })

  test('lists: more entries than a block can have are refused before they are read', async () => {
    const payers = Object.fromEntries(Array.from({ length: 65_537 }, (_, payer) => [`payer${payer}`, '1']))
    for (const [path, key, entries, says] of [
      [['block'], 'transactions', Array(65_537).fill(0), '65537 entries are more than 65536: '],
      [TX, 'actions', Array(65_537).fill(0), '65537 entries are more than 65536: '],
      [TX, 'signers', Array(65_537).fill(0), '65537 entries are more than 65536: '],
      [TX, 'amount_limit', Array(65_537).fill(0), '65537 entries are more than 65536: '],
      [RECEIPT, 'returns', Array(65_537).fill(0), '65537 entries are more than 65536: '],
      [RECEIPT, 'receipts', Array(65_537).fill({ func_name: 'ContractA/b', content: '' }), undefined],
      [RECEIPT, 'receipts', Array(RECEIPTS.most + 1).fill(0), '1000001 entries are more than 1000000: a block has at '],
      [RECEIPT, 'ram_usage', payers, '65537 payers are more than 65536'],
    ] as const) {
      const answer = await answerOf()
      at(answer, path)[key] = entries
      const message = refused(answer)
      if (says === undefined) expect(message).toBeUndefined()
      else expect(message).toStartWith(`${shownPath([...path, key])}: ${says}`)
    }
  })

  test('block.receipts[0].receipts: the raw form has as many', async () => {
    const answer = JSON.parse((await rpcAnswers()).get('GET /getRawBlockByNumber/1/true') ?? '') as Json
    const receipts = at(answer, ['block', 'receipts', 0])
    receipts['receipts'] = Array(65_537).fill({ funcName: 'ContractA/b', content: '' })
    expect(decodeRawBlock(JSON.stringify(answer)).receipts[0]?.receipts.length).toBe(65_537)
    receipts['receipts'] = Array(RECEIPTS.most + 1).fill(0)
    expect(() => decodeRawBlock(JSON.stringify(answer))).toThrow(
      'block.receipts[0].receipts: 1000001 entries are more than 1000000: ',
    )
  })

  test('block.info: may be as long as a list of transactions, and no longer', async () => {
    const answer = await answerOf()
    at(answer, ['block'])['info'] = { batch: 'x'.repeat(INFO.most - '{"batch":""}'.length) }
    expect(refused(answer)).toBeUndefined()
    at(answer, ['block'])['info'] = { batch: 'x'.repeat(INFO.most) }
    expect(refused(answer)).toStartWith('block.info: ')
  })

  test('only genesis may contain actions longer than a transaction', async () => {
    const answer = await answerOf(0)
    const action = at(answer, ['block', 'transactions', 0, 'actions', 0])
    action['data'] = 'x'.repeat(IN_TRANSACTION.most + 1)
    expect(refused(answer)).toBeUndefined()
    action['data'] = 'x'.repeat(IN_GENESIS.most + 1)
    expect(refused(answer)).toContain('.data: ')
  })

  test('an answer nested 33 deep is refused anywhere, an answer nested 32 deep is accepted', async () => {
    const text = JSON.stringify(await answerOf())
    const nested = (depth: number) => text.replace('"info":null', `"info":${'['.repeat(depth)}${']'.repeat(depth)}`)
    // The info of a block is already inside two brackets.
    expect(refused(nested(DEPTH.most - 2))).toBeUndefined()
    for (const depth of [DEPTH.most - 1, 1_000_000])
      expect(refused(nested(depth))).toBe(
        `getBlockByNumber: ${depth + 2} brackets inside each other are more than 32: no answer of a node is nested deeper.`,
      )
    for (const broken of ['[', '{"a":'].map(one => one.repeat(100_000)))
      expect(refused(broken)).toContain('are more than 32')
  })

  test('raw heads: texts longer than 32 bytes, a key or an info are refused', () => {
    const hashes = { parentHash: '', txMerkleHash: '', txReceiptMerkleHash: '' }
    const head = { version: '1', ...hashes, info: '', number: '7', witness: '', time: '1' }
    const textWith = (change: object) => JSON.stringify({ block_list: [{ head: { ...head, ...change } }] })
    expect(decodeRawHeads(textWith({})).length).toBe(1)
    for (const [key, most] of [
      ...Object.keys(hashes).map(key => [key, HASH.most] as const),
      ['info', INFO.most],
      ['witness', PUBLIC_KEY.most],
      ['version', 20],
      ['time', 20],
    ] as const)
      expect(() => decodeRawHeads(textWith({ [key]: '1'.repeat(most + 1) }))).toThrow(
        `block_list[0].head.${key}: ${most + 1} characters are more than ${most}: `,
      )
  })
})
