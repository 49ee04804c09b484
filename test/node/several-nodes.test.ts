import { expect, test } from 'bun:test'
import { LINKED } from '#chain/block.ts'
import { createNode } from '#node/archive-node.ts'
import { idleClock } from '#test/support/clocks/idle-clock.ts'
import { type Fault, startFaultyNode } from '#test/support/nodes/faulty-node.ts'
import { isBulk, slice } from '#test/support/nodes/read-blocks.ts'

/** The time-out is so long that it never fires. */
const PATIENT_MS = 3_600_000
const RANGE = { from: 1000, to: 2600 }

/** Reads from two nodes, each with its fault. Returns the bulk calls of each. */
async function readOf(faults: readonly [Fault, Fault]) {
  await using one = await startFaultyNode(faults[0])
  await using other = await startFaultyNode(faults[1])
  const node = createNode({ urls: [one.url, other.url], clock: idleClock(), timeoutMs: PATIENT_MS })
  await node.chainInfo()
  const blocks = []
  for await (const loaded of node.blocks(RANGE)) blocks.push({ ...loaded, proof: LINKED })
  node.close()
  const [ofOne = 0, ofOther = 0] = [one, other].map(({ asked }) => asked.filter(({ path }) => isBulk(path)).length)
  return { blocks, ofOne, ofOther }
}

test('blocks: each of two nodes is asked for a part', async () => {
  const { blocks, ofOne, ofOther } = await readOf([() => undefined, () => undefined])
  expect(blocks).toEqual([...(await slice(RANGE))])
  expect(ofOne).toBeGreaterThan(20)
  expect(ofOther).toBeGreaterThan(20)
})

test('blocks: a node that never answers bulk calls delays nothing, and the other one returns all blocks', async () => {
  const hangs: Fault = ({ path }) => (isBulk(path) ? new Promise<never>(() => undefined) : undefined)
  const { blocks, ofOne, ofOther } = await readOf([hangs, () => undefined])
  expect(blocks).toEqual([...(await slice(RANGE))])
  expect(ofOne).toBeLessThan(ofOther / 2)
})

test('blocks: a failing node is left, and its ranges are requested from the other one', async () => {
  const fails: Fault = ({ path }) => (isBulk(path) ? new Response('', { status: 503 }) : undefined)
  const { blocks, ofOne, ofOther } = await readOf([() => undefined, fails])
  expect(blocks).toEqual([...(await slice(RANGE))])
  expect(ofOther).toBeLessThan(ofOne / 2)
})
