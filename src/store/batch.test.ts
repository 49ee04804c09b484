import { describe, expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
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
import type { Batch, Identity } from './port.ts'

function messageOf(run: () => void): readonly [string, string] | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof Failure) return [error.kind, error.message]
    throw error
  }
}

describe('checkBatch', () => {
  const twice = [wealthDoc('a', 1n), wealthDoc('a', 2n)].map(doc => ({ index: wealth, doc }))
  const cases: readonly (readonly [string, Batch, number | undefined, string | undefined])[] = [
    ['the first', batchOf(0, 2), undefined, undefined],
    ['the next', batchOf(3, 3), 2, undefined],
    ['not from block 0', batchOf(1, 2), undefined, 'must begin at 0, right after the checkpoint'],
    ['again', batchOf(2, 3), 2, 'must begin at 3, right after the checkpoint'],
    ['a hole', batchOf(4, 5), 2, 'must begin at 3, right after the checkpoint'],
    ['empty', { ...batchOf(3, 3), end: publishedAt(2), blocks: [] }, 2, 'ends before it begins'],
    ['too few', { ...batchOf(3, 5), blocks: [blockDoc(3), blockDoc(4)] }, 2, 'has 2 blocks'],
    ['out of order', batchOf(3, 4, { blocks: [blockDoc(4), blockDoc(3)] }), 2, 'block 4 is at the position of block 3'],
    [
      'another end',
      batchOf(3, 3, { blocks: [blockDoc(3, { hash: 'x' })] }),
      2,
      'its end has the hash hash-3, but its last block has x; the times must agree, too',
    ],
    [
      'another time',
      batchOf(3, 3, { blocks: [blockDoc(3, { time: 1n })] }),
      2,
      'its end has the hash hash-3, but its last block has hash-3; the times must agree, too',
    ],
    [
      'a transaction from before',
      batchOf(3, 3, { transactions: [transactionDoc(2, 1)] }),
      2,
      'document 000000000002-00001 is of block 2',
    ],
    [
      'a row from after',
      batchOf(3, 3, { records: [recordDoc(4, 1)] }),
      2,
      'document 000000000004-00001-00001 is of block 4',
    ],
    ['two words on one thing', batchOf(3, 3, { changes: twice }), 2, "two changes of wealth 'a'"],
  ]
  for (const [name, batch, after, problem] of cases)
    test(name, () => {
      const checkpoint = after === undefined ? undefined : publishedAt(after)
      const expected =
        problem === undefined
          ? undefined
          : (['defect', `Batch of blocks ${batch.first} to ${batch.end.height}: ${problem}.`] as const)
      expect(messageOf(() => checkBatch(batch, checkpoint))).toEqual(expected)
    })
})

describe('checkBatch with history stored ahead', () => {
  const { lib: _, ...ahead } = publishedAt(4)
  const rest = { ...batchOf(3, 6), blocks: [blockDoc(5), blockDoc(6)] }
  const cases: readonly (readonly [string, Batch, WrittenAhead, string | undefined])[] = [
    ['the rest', rest, ahead, undefined],
    ['nothing is left', { ...batchOf(3, 4), blocks: [] }, ahead, undefined],
    ['all again', batchOf(3, 6), ahead, 'has 4 blocks'],
    ['a hole', { ...rest, blocks: [blockDoc(6)] }, ahead, 'has 1 blocks'],
    [
      'a row of a block stored ahead',
      { ...rest, records: [recordDoc(4, 0)] },
      ahead,
      'document 000000000004-00001-00000 is of block 4',
    ],
    [
      'another last block',
      { ...batchOf(3, 4), blocks: [] },
      { ...ahead, hash: 'x' },
      'its end has the hash hash-4, but its last block has x; the times must agree, too',
    ],
  ]
  for (const [name, batch, before, problem] of cases)
    test(name, () => {
      const expected =
        problem === undefined
          ? undefined
          : (['defect', `Batch of blocks ${batch.first} to ${batch.end.height}: ${problem}.`] as const)
      expect(messageOf(() => checkBatch(batch, publishedAt(2), before))).toEqual(expected)
    })
})

describe('checkIdentity', () => {
  const cases: readonly (readonly [string, Identity | undefined, Identity, string | undefined])[] = [
    ['nothing stored', undefined, identity, undefined],
    ['the same', identity, { ...identity }, undefined],
    ['another chain', identity, { ...identity, chainId: 1 }, 'S has chain id 1020, but the loader needs 1.'],
    [
      'another genesis',
      identity,
      { ...identity, genesis: 'g' },
      'S has genesis block genesis-hash, but the loader needs g.',
    ],
    [
      'another derivation',
      { ...identity, derivation: 6 },
      { ...identity, derivation: 7 },
      'S has documents of derivation version 6, but the loader needs 7.',
    ],
  ]
  for (const [name, stored, given, message] of cases)
    test(name, () => {
      expect(messageOf(() => checkIdentity('S', stored, given))).toEqual(
        message === undefined ? undefined : ['conflict', message],
      )
    })
})
