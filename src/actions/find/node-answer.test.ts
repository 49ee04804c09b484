import { expect, test } from 'bun:test'
import type { Node } from '#node/port.ts'
import { askNode } from './node-answer.ts'

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
  const signal = AbortSignal.timeout(60_000)
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
