import { expect, test } from 'bun:test'
import { needsOf } from '#derive/needs.ts'
import { DERIVATION, type Key } from '#indices/registry.ts'
import { batchBuilder } from '#load/batches.ts'
import { deriver } from '#load/deriver.ts'
import type { Writer } from '#store/port.ts'
import { chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

const UNBOUNDED = { documents: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }
const named = ({ index, id }: Key): string => `${index.name} ${id}`

test('deriver: documents that were dropped after the prefetch are fetched again before the blocks are derived', async () => {
  const args = ['iost', 'alice00', 'bob0000', '1', '']
  const paying = () => transaction({ receipts: [receipt('token.iost/transfer', args)] })
  const [first, second, ...next] = chainOf([genesis()], [paying()], [paying()], [paying()])
  if (first === undefined || second === undefined) throw new Error('The chain has four blocks.')
  const { store, destroy } = await temporarySqlite()
  await store.create()
  const { chainId = 0 } = first.block.transactions[0] ?? {}
  const writer = await store.takeOver({ chainId, genesis: first.block.hash, derivation: DERIVATION })
  const asked: string[] = []
  const getMany: Writer['getMany'] = keys => {
    asked.push(...keys.map(named))
    return writer.getMany(keys)
  }
  const derive = deriver(Object.assign(Object.create(writer) as Writer, { getMany }), () => 0)
  const batch = batchBuilder(UNBOUNDED)
  const commitAll = async (): Promise<void> => undefined
  await derive.begin([[first, second]])
  for (const loaded of [first, second]) batch.add(await derive.derive(loaded, commitAll))
  const run = [next]
  derive.prefetch(run)
  await writer.append(batch.takePart({ partition: 0, documents: 0 }))
  await writer.commit({ end: batch.end(1), changes: derive.cut() })
  derive.settled()
  await derive.begin(run)
  asked.length = 0
  for (const loaded of next) await derive.derive(loaded, commitAll)
  const needed = new Set(needsOf(next).map(named))
  expect(asked.filter(name => needed.has(name))).toEqual([])
  await writer.release()
  await destroy()
})
