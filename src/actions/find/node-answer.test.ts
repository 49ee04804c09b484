import { expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import type { Node } from '#node/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'
import { askNode, sharedQuery } from './node-answer.ts'

const signal = AbortSignal.timeout(600_000)

/** The outcome for a node that answers with this status and text. */
function saidOf(status: number, text: string, libBlock?: number): Promise<string | undefined> {
  const get: Node['get'] = async () => ({
    status,
    contentType: 'text/plain; charset=utf-8',
    body: new TextEncoder().encode(text),
    reaches: () => true,
    refreshHeight: async () => undefined,
    isFirst: true,
    isUsable: () => true,
    release: () => undefined,
  })
  const at = { height: 7, hash: 'h', time: 0n, lib: 7 }
  const heard = () => (libBlock === undefined ? undefined : { libBlock })
  return askNode({ get, lastInfo: heard } as unknown as Node, '/getTxByHash/x', {
    at,
    signal,
    waitForNode: work => work(),
  })
}

const REFUSAL = '{"code":2,"message":"tx not found"}'

test("a node does not know a thing when it says so as nodes do: the recorded node's status and text", async () => {
  expect(await saidOf(400, REFUSAL)).toBeUndefined()
  expect(await saidOf(400, REFUSAL.replace('tx', 'block'))).toBeUndefined()
  expect(await saidOf(200, REFUSAL)).toBe(REFUSAL)
})

test.each([
  [500, REFUSAL],
  [502, REFUSAL],
  [404, REFUSAL],
  [204, REFUSAL],
  [400, `<html>${REFUSAL}</html>`],
  [400, '{"code":2,"message":"account not found"}'],
  [400, '{"error":{"message":"tx not found"}}'],
])('status %p with %p says nothing of a thing', async (status, text) => {
  await expect(saidOf(status, text)).rejects.toMatchObject({
    kind: 'unavailable',
    message: `The node returned status ${status} to a query for a block or transaction.`,
  })
})

test('an archive cannot look up a hash: a thing does not exist once all of its blocks are stored', async () => {
  const text = '{"code":12,"message":"an archive of blocks does not answer getTxByHash"}'
  for (const lib of [6, 7]) expect(await saidOf(400, text, lib)).toBeUndefined()
  await expect(saidOf(400, text, 8)).rejects.toMatchObject({
    kind: 'loading',
    details: { height: 7, lib: 8 },
  })
  await expect(saidOf(400, text)).rejects.toMatchObject({ kind: 'unavailable' })
})

/** The answers to a shared query at these times, and the number of times that the node was asked. */
async function sharedAt(query: () => Promise<unknown>, times: readonly number[], timeoutMs?: number) {
  let asked = 0
  const clock = handClock()
  const ask = sharedQuery(() => {
    asked += 1
    return query()
  }, timeoutMs)
  const node = spokenNode({})
  const said: unknown[] = []
  for (const at of times) {
    clock.leap(at - clock.elapsed())
    said.push(await ask({ node, signal, clock }))
  }
  return [said, asked]
}
const silent = async () => {
  throw new Failure('unavailable', 'No node answers.')
}

test('sharedQuery: one answer of a node is reused for half a second, separately for each node', async () => {
  let times = 0
  expect(await sharedAt(async () => ++times, [0, 499, 500])).toEqual([[1, 1, 2], 2])
  const ask = sharedQuery(async () => ++times)
  const clock = handClock()
  const said = [spokenNode({}), spokenNode({})].map(node => ask({ node, signal, clock }))
  expect(await Promise.all(said)).toEqual([3, 4])
})

test('sharedQuery: no answer is remembered for five seconds, a node that hangs is asked only once, and without a node there is none', async () => {
  expect(await sharedAt(silent, [0, 4999, 5000])).toEqual([[undefined, undefined, undefined], 2])
  expect(await sharedAt(() => new Promise<never>(() => undefined), [0, 0], 1)).toEqual([[undefined, undefined], 1])
  expect(await sharedQuery(silent)({ node: undefined, signal, clock: handClock() })).toBeUndefined()
  await expect(sharedAt(() => Promise.reject(new TypeError('Ours.')), [0])).rejects.toThrow('Ours.')
})

test('sharedQuery: a request past its deadline stops waiting while the others continue', async () => {
  const answer = Promise.withResolvers<string>()
  const ask = sharedQuery(() => answer.promise)
  const node = spokenNode({})
  const late = new AbortController()
  const first = ask({ node, signal: late.signal, clock: handClock() }).catch(error => (error as Failure).kind)
  const second = ask({ node, signal, clock: handClock() })
  late.abort()
  expect(await first).toBe('deadline')
  answer.resolve('said')
  expect(await second).toBe('said')
})
