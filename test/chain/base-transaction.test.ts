import { expect, test } from 'bun:test'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { fromBaseTransaction, toBaseTransaction } from '#chain/base-transaction.ts'

test('fromBaseTransaction: every recorded base transaction is a difference that gives its text back', async () => {
  const blocks = (await recordedBlocks()).slice(1)
  const wrong: number[] = []
  const whole: number[] = []
  for (const { block } of blocks) {
    const [tx] = block.transactions
    if (tx === undefined) throw new Error(`Block ${block.height} has no transaction.`)
    const base = fromBaseTransaction(tx)
    if (base.startsWith('{"body"')) whole.push(block.height)
    if (toBaseTransaction({ base, tx_hashes: `${tx.hash} other`, time: block.time }) !== tx.body)
      wrong.push(block.height)
  }
  expect({ count: blocks.length, whole, wrong }).toEqual({ count: 4851, whole: [], wrong: [] })
})

test('fromBaseTransaction: a transaction that leaves the template is kept whole', async () => {
  const { block } = (await recordedBlocks())[1] ?? {}
  const [tx] = block?.transactions ?? []
  if (block === undefined || tx === undefined) throw new Error('Block 1 has no transaction.')
  const odd = { ...tx, body: tx.body.replace('"gas_limit":1000000', '"gas_limit":2000000') }
  const base = fromBaseTransaction(odd)
  expect(base).toBe(`{"body":${odd.body}}`)
  expect(toBaseTransaction({ base, tx_hashes: `${tx.hash} other`, time: block.time })).toBe(odd.body)
})
