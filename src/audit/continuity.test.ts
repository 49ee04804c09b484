import { expect, test } from 'bun:test'
import type { BlockDoc, blocks } from '#indices/block.ts'
import { blockId, transactionId } from '#indices/list.ts'
import type { Published, Store } from '#store/port.ts'
import { continuity, splitHeights } from './continuity.ts'

const LAST = 450
const hashOf = (height: number) => `hash${height}`
const block = (height: number): BlockDoc => ({
  id: blockId(height),
  height,
  hash: hashOf(height),
  hash8: 0n,
  version: '0',
  parent_hash: height === 0 ? '' : hashOf(height - 1),
  tx_merkle_hash: '',
  tx_receipt_merkle_hash: '',
  witness: '',
  witness_account: '',
  time: 0n,
  gas_usage: 0n,
  tx_count: 2,
  info: '{}',
  orig_info: '',
  tx_hashes: `base${height} tx${height}`,
  base: '{}',
})

/** A store with blocks 0 … 450, each with a base transaction and another one; some documents are changed or removed. */
function storeWith(changes: ReadonlyMap<string, object | undefined>): Pick<Store, 'read'> {
  const docs = new Map<string, object>()
  for (let height = 0; height <= LAST; height++) {
    docs.set(blockId(height), block(height))
    docs.set(transactionId(height, 1), { hash: `tx${height}` })
  }
  for (const [id, doc] of changes) {
    if (doc === undefined) docs.delete(id)
    else docs.set(id, { ...docs.get(id), ...doc })
  }
  const view = {
    getMany: async (_index: typeof blocks, ids: readonly string[]) => ids.map(id => docs.get(id)),
  }
  return { read: work => work(view as never) }
}

const published: Published = { height: LAST, hash: hashOf(LAST), time: 0n, lib: LAST }
const look = (changes: ReadonlyMap<string, object | undefined>) =>
  continuity(storeWith(changes), { published, all: true, signal: new AbortController().signal })

test('continuity: a whole chain has no problems', async () => {
  expect(await look(new Map())).toEqual({ blocks: 451, transactions: 451, problems: [] })
})

test.each([
  [blockId(0), undefined, 'block 0 is missing'],
  [blockId(200), undefined, 'block 200 is missing'],
  [blockId(LAST), undefined, 'block 450 is missing'],
  [blockId(3), { height: 4 }, 'block 3 is stored as block 4'],
  [blockId(200), { parent_hash: 'x' }, 'block 200 has the parent hash x, but block 199 has the hash hash199'],
  [blockId(LAST), { hash: 'x' }, 'block 450 has the hash x, but hash450 is published'],
  [blockId(7), { tx_count: 3 }, 'block 7 has 2 of 3 transaction hashes'],
  [transactionId(9, 1), undefined, `transaction ${transactionId(9, 1)} (tx9) is missing`],
  [transactionId(9, 1), { hash: 'x' }, `transaction ${transactionId(9, 1)} has the hash x, but its block names tx9`],
] as const)('continuity: %s changed to %p is found', async (id, doc, problem) => {
  expect((await look(new Map([[id, doc]]))).problems).toEqual([problem])
})

test('continuity: the check of an empty store at a great height ends after a few problems', async () => {
  const none = new Map([...Array(LAST + 1).keys()].map(height => [blockId(height), undefined]))
  expect((await look(none)).problems.length).toBe(20)
})

test('heights of a check: all once with `all`, otherwise a sample with both ends', () => {
  expect(splitHeights(0, false)).toEqual([{ from: 0, to: 0 }])
  expect(splitHeights(450, true)).toEqual([
    { from: 0, to: 199 },
    { from: 200, to: 399 },
    { from: 400, to: 450 },
  ])
  const spread = splitHeights(300_000_000, false)
  expect([spread.length, spread[0], spread.at(-1)]).toEqual([
    25,
    { from: 0, to: 199 },
    { from: 300_000_000, to: 300_000_000 },
  ])
})
