import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { wealth } from '#indices/wealth.ts'
import type { View } from '#store/port.ts'
import { identity, listAt, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf, kindOf } from '#test/store/suite/harness.ts'
import { type Answered, type Fate, pass } from '#test/support/nodes/faulty-proxy.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { type BehindProxy, elasticsearchUrl, openBehindProxy } from '#test/support/stores/elasticsearch.ts'

const HEIGHT = 5
/** Retries pause for one millisecond only. */
const clock = { sleep: () => Bun.sleep(1), random: () => 0 }

let place: BehindProxy

/** Every kind of request. */
const reads: readonly (readonly [string, path: string, (view: View) => Promise<unknown>])[] = [
  ['a document', '_mget', view => view.get(wealth, 'a')],
  ['a ranking', '_msearch', view => view.page(wealth, 'richest', { offset: 0, limit: 10 })],
  ['rows of a list', '_search', view => view.records(listAt(HEIGHT), 1, HEIGHT + 1)],
]

const shardGone = { type: 'no_shard_available_action_exception', reason: 'No shard available for [get]' }

/** The server answers, but a shard failed. */
function partly({ status, body }: Answered): Answered {
  const { docs: [first, ...rest] = [], responses } = JSON.parse(body) as { docs?: object[]; responses?: object[] }
  const failed = { status: 503, error: { type: 'search_phase_execution_exception', reason: 'all shards failed' } }
  if (first !== undefined)
    return { status, body: JSON.stringify({ docs: [...rest, { ...first, found: undefined, error: shardGone }] }) }
  if (responses !== undefined) return { status, body: JSON.stringify({ responses: [responses[0], failed] }) }
  return { status: 503, body: JSON.stringify({ error: shardGone, status: 503 }) }
}

function answerWith(status: number): Fate {
  return { type: 'answer', with: { status, body: '{"error":{"type":"busy","reason":"too much to do"}}' } }
}
function change(to: (body: string) => string): Fate {
  return { type: 'change', to: ({ status, body }) => ({ status, body: to(body) }) }
}

const faults: readonly (readonly [string, Fate])[] = [
  ['is cut off before it arrives', { type: 'cut-before' }],
  ['is cut off before its answer', { type: 'cut-after' }],
  ['meets a full queue', answerWith(429)],
  ['meets a node that leaves', answerWith(503)],
  ['is answered by some shards only', { type: 'change', to: partly }],
  ['is answered with half of the text', change(body => body.slice(0, body.length / 2))],
  ['is answered with an empty object', change(() => '{}')],
  ['is answered with null', change(() => 'null')],
  ['is answered with an object for every member', change(body => body.replaceAll(/\[.*\]/gs, '{}'))],
]

/** Reads once through the proxy, with a new store that has no cache. */
async function readThrough(read: (view: View) => Promise<unknown>, signal?: AbortSignal): Promise<unknown> {
  const store = place.target.reopen({ url: place.url, clock })
  try {
    return await store.read(read, signal === undefined ? {} : { signal })
  } finally {
    await store.close()
  }
}

/** The fate of the first `count` requests of a path. */
function first(count: number, path: string, fate: Fate): void {
  let left = count
  place.faults.fateOf = asked => (asked.path.includes(path) && left-- > 0 ? fate : pass)
}

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () => {
  beforeAll(async () => {
    place = await openBehindProxy()
    const writer = await place.target.store.takeOver(identity)
    await commitBatch(writer, tellingBatch(0, HEIGHT))
    await writer.release()
  })
  afterAll(() => place?.[Symbol.asyncDispose]())

  for (const [what, path, read] of reads)
    for (const [fault, fate] of faults)
      test(`read: ${what} that ${fault} is requested again, and unavailable in the end, never incomplete`, async () => {
        const expected = await place.target.store.read(read)
        first(1, path, fate)
        expect(await readThrough(read)).toEqual(expected)
        first(Number.POSITIVE_INFINITY, path, fate)
        const failure = await failureOf(readThrough(read))
        expect([failure.kind, failure.retryable]).toEqual(['unavailable', true])
      })

  test('read: a missing answer is unavailable, or a deadline if that is sooner', async () => {
    for (const [, path, read] of reads) {
      const { promise: until, resolve } = Promise.withResolvers<void>()
      first(Number.POSITIVE_INFINITY, path, { type: 'hold', until })
      expect(await kindOf(readThrough(read, AbortSignal.timeout(50)))).toBe('deadline')
      resolve()
    }
    const { promise: until, resolve } = Promise.withResolvers<void>()
    place.faults.fateOf = () => ({ type: 'hold', until })
    const hurried = place.target.reopen({ url: place.url, requestTimeoutMs: 50 })
    expect(await kindOf(hurried.read(reads[0]?.[2] ?? (async () => undefined)))).toBe('unavailable')
    resolve()
    await hurried.close()
  })

  test('read: a host that is down costs only a retry on another host', async () => {
    place.faults.fateOf = () => pass
    const url = `http://127.0.0.1:1,${place.url.slice('http://'.length)}`
    const store = place.target.reopen({ url })
    for (const [, , read] of reads) expect(await store.read(read)).toEqual(await place.target.store.read(read))
    await store.close()
  })
})
