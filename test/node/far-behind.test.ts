import { expect, test } from 'bun:test'
import { LAST_HASH, OURS, PATH, pair, refuses, statusOf } from '#test/support/nodes/pair.ts'

test('get: a node far behind gets no request, also when the others fail', async () => {
  await using nodes = await pair({ wellTo: 100 })
  await nodes.node.watch(async () => OURS)
  nodes.become(refuses)
  // The failure of the node itself is passed on, because no better answer exists.
  expect([await statusOf(nodes.node.get(PATH)), nodes.passed()]).toEqual([503, [1, 0]])
  // The failed node is silent now, so the node far behind is the best one.
  await nodes.look()
  expect([await statusOf(nodes.node.get(PATH)), nodes.passed()]).toEqual([200, [1, 1]])
})

test('get: a node far behind the store gets no request until it has caught up', async () => {
  await using nodes = await pair({ sickTo: 100, wellTo: 4_500 })
  await nodes.node.watch(async () => OURS, {
    last: async () => ({ height: 4_851, hash: LAST_HASH, time: 0n }),
    hashAt: async () => undefined,
  })
  expect([await statusOf(nodes.node.get(PATH)), nodes.passed()]).toEqual(['unavailable', [0, 0]])
  // Their reported heights are still known.
  expect(nodes.node.lastInfo()?.libBlock).toBe(4_500)
  nodes.well.setHeight(4_551)
  await nodes.look()
  expect([await statusOf(nodes.node.get(PATH)), nodes.passed()]).toEqual([200, [0, 1]])
})
