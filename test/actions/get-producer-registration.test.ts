import { expect, test } from 'bun:test'
import { toIso } from '#chain/time.ts'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { ask } from '#test/support/stores/ask.ts'

const STATUSES = ['APPLY', 'APPROVED', 'UNAPPLY', 'UNAPPLY_APPROVED']

/** The last block in which each producer was unregistered, read from the receipts. */
async function departures(): Promise<ReadonlyMap<string, { height: number; time: bigint }>> {
  const left = new Map<string, { height: number; time: bigint }>()
  for (const { block } of await recordedBlocks())
    for (const { receipt } of block.transactions)
      for (const { funcName, content } of receipt.receipts) {
        const [account = ''] = funcName === 'vote_producer.iost/unregister' ? (JSON.parse(content) as string[]) : []
        if (account !== '') left.set(account, { height: block.height, time: block.time })
      }
  return left
}

test('get-producer-registration: every producer with votes is in the table, or names the block in which it was unregistered', async () => {
  const { producers, producerVotes, votes } = await oracle()
  const left = await departures()
  let former = 0
  for (const [producer, option] of producerVotes) {
    const said = await ask('get-producer-registration', { producer })
    const registered = producers.has(producer)
    const departure = left.get(producer)
    const since =
      registered || departure === undefined
        ? {}
        : { unregistered_block: departure.height, unregistered_at: toIso(departure.time) }
    expect(said).toMatchObject({
      account: producer,
      registered,
      ...(registered ? { status: STATUSES[Number(producers.get(producer)?.get('status'))] } : {}),
      ...since,
      votes: option.get('votes'),
      voter_count: votes.get(producer)?.size ?? 0,
    })
    expect(['unregistered_block' in said, 'status' in said]).toEqual([!registered, registered])
    former += Number(!registered)
  }
  expect(former).toBeGreaterThan(0)
})
