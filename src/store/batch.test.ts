import { expect, test } from 'bun:test'
import { wealth } from '#indices/wealth.ts'
import {
  batchOf,
  blockDoc,
  identity,
  publishedAt,
  recordDoc,
  transactionDoc,
  wealthDoc,
} from '#test/store/suite/fixture.ts'
import { checkBatch, type WrittenAhead } from './batch.ts'
import { checkIdentity } from './identity.ts'
import type { Batch, Published } from './port.ts'

const twice = [wealthDoc('a', 1n), wealthDoc('a', 2n)].map(doc => ({ index: wealth, doc }))
const ahead = publishedAt(4)
const rest = { ...batchOf(3, 6), blocks: [blockDoc(5), blockDoc(6)] }
const nothing = { ...batchOf(3, 4), blocks: [] }
const [restarts, begins] = [
  'must begin at 3, right after the checkpoint',
  'must begin at 0, right after the checkpoint',
]
const ends = (own: string, last: string) =>
  `its end has the hash ${own}, but its last block has ${last}; the times must agree, too`

const [none, after] = [{}, { checkpoint: publishedAt(2) }]
const behind = { ...after, ahead }

test.each<
  readonly [string, Batch, { readonly checkpoint?: Published; readonly ahead?: WrittenAhead }, string | undefined]
>([
  ['the first', batchOf(0, 2), none, undefined],
  ['the next', batchOf(3, 3), after, undefined],
  ['not from block 0', batchOf(1, 2), none, begins],
  ['again', batchOf(2, 3), after, restarts],
  ['a hole', batchOf(4, 5), after, restarts],
  ['empty', { ...batchOf(3, 3), end: publishedAt(2), blocks: [] }, after, 'ends before it begins'],
  ['too few', { ...batchOf(3, 5), blocks: [blockDoc(3), blockDoc(4)] }, after, 'has 2 blocks'],
  [
    'out of order',
    batchOf(3, 4, { blocks: [blockDoc(4), blockDoc(3)] }),
    after,
    'block 4 is at the position of block 3',
  ],
  ['another end', batchOf(3, 3, { blocks: [blockDoc(3, { hash: 'x' })] }), after, ends('hash-3', 'x')],
  ['another time', batchOf(3, 3, { blocks: [blockDoc(3, { time: 1n })] }), after, ends('hash-3', 'hash-3')],
  [
    'a transaction from before',
    batchOf(3, 3, { transactions: [transactionDoc(2, 1)] }),
    after,
    'document 000000000002-00001 is of block 2',
  ],
  [
    'a row from after',
    batchOf(3, 3, { records: [recordDoc(4, 1)] }),
    after,
    'document 000000000004-00001-00001 is of block 4',
  ],
  ['two changes of one document', batchOf(3, 3, { changes: twice }), after, "two changes of wealth 'a'"],
  ['the rest, after blocks stored ahead', rest, behind, undefined],
  ['nothing, after blocks stored ahead', nothing, behind, undefined],
  ['all again, after blocks stored ahead', batchOf(3, 6), behind, 'has 4 blocks'],
  ['a hole after blocks stored ahead', { ...rest, blocks: [blockDoc(6)] }, behind, 'has 1 blocks'],
  [
    'a row of a block stored ahead',
    { ...rest, records: [recordDoc(4, 0)] },
    behind,
    'document 000000000004-00001-00000 is of block 4',
  ],
  ['another block stored ahead', nothing, { ...after, ahead: { ...ahead, hash: 'x' } }, ends('hash-4', 'x')],
])('checkBatch: %s', (_, ...[batch, before, problem]) => {
  const check = () => checkBatch(batch, before.checkpoint, before.ahead)
  if (problem === undefined) return check()
  const message = `Batch of blocks ${batch.first} to ${batch.end.height}: ${problem}.`
  expect(check).toThrow(expect.objectContaining({ kind: 'defect', message }))
})

test.each([
  [{}, undefined],
  [{ chainId: 1 }, 'S has chain id 1020, but the loader needs 1.'],
  [{ genesis: 'g' }, 'S has genesis block genesis-hash, but the loader needs g.'],
  [{ derivation: 7 }, 'S has documents of derivation version 6, but the loader needs 7.'],
])('checkIdentity: a loader with the differences %p', (change, message) => {
  const stored = { ...identity, derivation: 6 }
  checkIdentity('S', undefined, { ...stored, ...change })
  const check = () => checkIdentity('S', stored, { ...stored, ...change })
  if (message === undefined) check()
  else expect(check).toThrow(expect.objectContaining({ kind: 'conflict', message }))
})
