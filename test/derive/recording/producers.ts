import { describe, expect, test } from 'bun:test'
import { producerKeys, producers } from '#indices/producer.ts'
import { oracle, type Tree } from '#test/support/nodes/recording.ts'
import { sortedByKey } from '#test/support/sorted-by-key.ts'
import { derivedRecording } from '#test/support/stores/derived-chain.ts'

// Awaited here and not in a test: deriving the chain takes longer than the time limit of a test.
const chain = await derivedRecording()
const truth = await oracle()

function plain(value: Tree): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, entry]) => [key, plain(entry)]))
  return Array.isArray(value) ? value.map(plain) : value
}

describe('deriveBlock: producers of the recording against its node', () => {
  test('deriveBlock: producers in the table and their keys match the node', () => {
    const expected = [...truth.producers].map(([account, row]) => [account, plain(row)] as const)
    const derived = chain.state
      .all(producers)
      .filter(({ registered }) => registered)
      .map(
        ({ account, pubkey, loc, url, net_id, is_producer, status, online }) =>
          [account, { pubkey, loc, url, netId: net_id, isProducer: is_producer, status, online }] as const,
      )
    expect(sortedByKey(derived)).toEqual(sortedByKey(expected))
    const keys = chain.state.all(producerKeys).filter(({ account }) => account !== '')
    expect(sortedByKey(keys.map(({ id, account }) => [id, account] as const))).toEqual(sortedByKey(truth.producerKeys))
  })
})
