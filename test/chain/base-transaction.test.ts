import { expect, test } from 'bun:test'
import {
  buildBaseTransaction,
  findDifference,
  packBaseTransaction,
  unpackBaseTransaction,
} from '#chain/base-transaction.ts'
import type { Block, Transaction } from '#chain/block.ts'
import { decodeBodiedTransaction } from '#chain/decode-transaction.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'

test('packBaseTransaction: every recorded base transaction is restored from its difference to the template', async () => {
  const blocks = (await recordedBlocks()).slice(1)
  const wrong = blocks.filter(({ block: { transactions, time } }) => {
    const [tx] = transactions as readonly [Transaction]
    const base = packBaseTransaction(tx, time)
    const restored = unpackBaseTransaction({ base, tx_hashes: `${tx.hash} other`, time })
    return base.startsWith('{"body"') || restored !== tx.body
  })
  expect([blocks.length, wrong.map(({ block }) => block.height)]).toEqual([4851, []])
})

test('packBaseTransaction: a transaction that does not match the template or its block is kept whole', async () => {
  const block = (await recordedBlocks())[1]?.block as Block
  const tx = block.transactions[0] as Transaction
  const odd = { ...tx, body: tx.body.replace('"gas_limit":1000000', '"gas_limit":2000000') }
  const base = packBaseTransaction(odd, block.time)
  expect(base).toBe(`{"body":${odd.body}}`)
  expect(unpackBaseTransaction({ base, tx_hashes: `${tx.hash} other`, time: block.time })).toBe(odd.body)
  const time = block.time + 1n
  const made = buildBaseTransaction(
    findDifference(tx, block.time) as NonNullable<ReturnType<typeof findDifference>>,
    tx,
  )
  expect(made).toEqual(tx)
  expect(packBaseTransaction(made, block.time)).toBe(packBaseTransaction(tx, block.time))
  for (const each of [tx, made]) expect(packBaseTransaction(each, time)).toBe(`{"body":${tx.body}}`)
})

test('unpackBaseTransaction: restores the JSON text of a base transaction with any characters in its texts', () => {
  const odd = ['', 'producer000', 'x"y', 'b\\c', '\n', '\u0001', '\u2028', 'ü', '\ud800', '😀', '\x7f']
  for (const w of odd)
    for (const t of odd)
      for (const x of [undefined, [{ func_name: w, content: t }]]) {
        const difference = { c: 1_024, w, g: t, ...(x === undefined ? { f: true } : { x }), t, a: w }
        const body = unpackBaseTransaction({ base: JSON.stringify(difference), tx_hashes: 'hash other', time: 5n })
        const parsed = JSON.parse(body ?? '')
        const decoded = decodeBodiedTransaction({ value: parsed, body: body ?? '' }, { key: 'transaction' })
        expect(JSON.stringify(parsed)).toBe(body ?? '')
        expect(parsed.actions[0].data).toBe(`[{"parent":["${w}", "${t}", ${x === undefined}]}]`)
        expect(parsed.tx_receipt.receipts).toEqual([
          ...(x ?? []),
          { func_name: 'token.iost/issue', content: JSON.stringify(['contribute', t, w]) },
        ])
        expect(buildBaseTransaction(difference, { hash: 'hash', time: 5n })).toEqual(decoded)
        expect([parsed.hash, parsed.tx_receipt.tx_hash, parsed.time]).toEqual(['hash', 'hash', '5'])
      }
})
