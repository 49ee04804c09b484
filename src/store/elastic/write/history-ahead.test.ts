import { expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import type { BlockDoc } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { History } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { connect } from '../client/connection.ts'
import { createNames } from '../schema/names.ts'
import { HistoryAhead } from './commit-batch.ts'

const blockAt = (height: number): BlockDoc => ({
  ...{ id: blockId(height), height, hash: `hash ${height}`, hash8: 0n, parent_hash: '', version: 'V1' },
  ...{ tx_merkle_hash: '', tx_receipt_merkle_hash: '', witness: 'w', witness_account: 'w', time: 0n },
  ...{ gas_usage: 0n, tx_count: 0, info: '{}', orig_info: '{}', tx_hashes: '' },
})

const historyOf = (partition: number, ...heights: readonly number[]): History => ({
  blocks: heights.map(blockAt),
  ...{ transactions: [], records: [], filling: { partition, documents: 0 } },
})

test('append: nothing is written to a partition after one that a failed batch should have opened', async () => {
  let requests = 0
  using server = Bun.serve({
    port: 0,
    fetch: () => {
      requests += 1
      return Response.json({})
    },
  })
  const connection = connect({ url: server.url.href.slice(0, -1) })
  try {
    const ahead = new HistoryAhead({
      cluster: {
        ...{ connection, names: createNames('p'), clock: systemClock, replicas: 0, leaseMs: 1_000 },
        ...{ writeTimeoutMs: 1_000, retryTimeoutMs: 1_000, onEvent: () => {} },
      },
      checkpoint: () => ({ partitions: [0], filling: { partition: 0, documents: 0 } }),
      chunk: { documents: 2, bytes: 1_000_000 },
    })
    const { promise, reject } = Promise.withResolvers<void>()
    const failed = new Failure('unavailable', 'It was not written.')
    await ahead.append(historyOf(1, 0))
    const end = { height: 0, hash: 'hash 0', time: 0n, lib: 0 }
    const committed = ahead.commit({ end, changes: [] }, () => promise)
    const appended = ahead.append(historyOf(2, 1, 2))
    reject(failed)
    expect(await Promise.allSettled([committed, appended])).toEqual([
      { status: 'rejected', reason: failed },
      { status: 'rejected', reason: failed },
    ])
    expect(requests).toBe(0)
  } finally {
    await connection.close()
  }
})
