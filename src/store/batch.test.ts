import { expect, test } from 'bun:test'
import { wealth } from '#indices/wealth.ts'
import { batchOf, blockDoc, publishedAt, recordDoc, transactionDoc, wealthDoc } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/support/refusal.ts'
import { checkBatch, type WrittenAhead } from './batch.ts'
import type { Batch } from './port.ts'

const twice = [wealthDoc('a', 1n), wealthDoc('a', 2n)].map(doc => ({ index: wealth, doc }))
const { lib: _, ...ahead } = publishedAt(4)
const rest = { ...batchOf(3, 6), blocks: [blockDoc(5), blockDoc(6)] }
const otherEnd = (hash: string, last: string): string =>
  `its end has the hash ${hash}, but its last block has ${last}; the times must agree, too`

const cases: readonly (readonly [name: string, batch: Batch, problem: string | undefined, before?: WrittenAhead])[] = [
  ['the next', batchOf(3, 3), undefined],
  ['again', batchOf(2, 3), 'must begin at 3, right after the checkpoint'],
  ['a hole', batchOf(4, 5), 'must begin at 3, right after the checkpoint'],
  ['empty', { ...batchOf(3, 3), end: publishedAt(2), blocks: [] }, 'ends before it begins'],
  ['too few', { ...batchOf(3, 5), blocks: [blockDoc(3), blockDoc(4)] }, 'has 2 blocks'],
  ['out of order', batchOf(3, 4, { blocks: [blockDoc(4), blockDoc(3)] }), 'block 4 is at the position of block 3'],
  ['another end', batchOf(3, 3, { blocks: [blockDoc(3, { hash: 'x' })] }), otherEnd('hash-3', 'x')],
  ['another time', batchOf(3, 3, { blocks: [blockDoc(3, { time: 1n })] }), otherEnd('hash-3', 'hash-3')],
  [
    'a transaction from before',
    batchOf(3, 3, { transactions: [transactionDoc(2, 1)] }),
    'document 000000000002-00001 is of block 2',
  ],
  [
    'a row from after',
    batchOf(3, 3, { records: [recordDoc(4, 1)] }),
    'document 000000000004-00001-00001 is of block 4',
  ],
  ['two words on one thing', batchOf(3, 3, { changes: twice }), "two changes of wealth 'a'"],
  ['the rest of what is stored ahead', rest, undefined, ahead],
  ['nothing is left', { ...batchOf(3, 4), blocks: [] }, undefined, ahead],
  ['all again', batchOf(3, 6), 'has 4 blocks', ahead],
  ['a hole after what is stored ahead', { ...rest, blocks: [blockDoc(6)] }, 'has 1 blocks', ahead],
  [
    'a row of a block stored ahead',
    { ...rest, records: [recordDoc(4, 0)] },
    'document 000000000004-00001-00000 is of block 4',
    ahead,
  ],
  [
    'another last block stored ahead',
    { ...batchOf(3, 4), blocks: [] },
    otherEnd('hash-4', 'x'),
    { ...ahead, hash: 'x' },
  ],
]

test.each(cases)('checkBatch: %s', async (...[, batch, problem, before]) => {
  const checked = (async () => checkBatch(batch, publishedAt(2), before))()
  if (problem === undefined) return await checked
  const { kind, message } = await failureOf(checked)
  expect([kind, message]).toEqual(['defect', `Batch of blocks ${batch.first} to ${batch.end.height}: ${problem}.`])
})
