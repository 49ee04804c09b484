import { expect, test } from 'bun:test'
import { LINKED } from '#chain/block.ts'
import { createNode } from '#node/archive-node.ts'
import type { Clock } from '#time/clock.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { isBulk, type Range, read, single, slice } from '../support/nodes/read-blocks.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { SOAK } from '../support/processes/soak.ts'

/** All of them are read when the recorded chain is loaded for the other tests. */
const MANY: Range = { from: 700, to: SOAK ? 4851 : 1700 }

test('blocks: every block built from bulk answers equals the one decoded by itself', async () => {
  const { blocks, asked, failure } = await read(() => undefined, MANY)
  const expected = await slice(MANY)
  expect(failure).toBeUndefined()
  expect(blocks.length).toBe(expected.length)
  expect(blocks.findIndex((block, at) => !Bun.deepEquals(block, expected[at], true))).toBe(-1)
  // Single block calls are made only where a transaction has no action, and where a range would have one block.
  const zeroAction = expected.filter(({ block }) => block.transactions.some(({ actions }) => actions.length === 0))
  const singles = asked.filter(path => path.startsWith('/getBlockByNumber/'))
  expect(zeroAction.length).toBeGreaterThan(0)
  expect(singles.length).toBeGreaterThanOrEqual(zeroAction.length)
  expect(singles.length).toBeLessThan(zeroAction.length + 5)
})

const RANGES: readonly Range[] = [
  { from: 0, to: 0 },
  { from: 0, to: 1 },
  { from: 4851, to: 4851 },
  { from: 2390, to: 2400 },
  { from: 5, to: 4 },
]
test.each(RANGES)('blocks: $from … $to equal the recording', async ({ from, to }) => {
  const parent = (await recordedBlocks())[from - 1]?.block.hash
  const { blocks } = await read(() => undefined, { from, to, ...(parent === undefined ? {} : { parent }) })
  expect(blocks).toEqual(await slice({ from, to }))
})

test('blocks: a redirect is not followed', async () => {
  const elsewhere = '/getBlockByNumber/1201/1'
  const { asked } = await read(
    ({ path }) => (single(path) ? new Response(null, { status: 302, headers: { location: elsewhere } }) : undefined),
    { from: 1201, to: 1201 },
  )
  expect(new Set(asked)).toEqual(new Set(['/getBlockHeaderByRange', '/getBlockByNumber/1201/true']))
})

test('blocks: ranges whose answers are too large are halved until they fit', async () => {
  const range = { from: 2391, to: 2440 }
  const { blocks, failure, asked } = await read(() => undefined, range, { maxBytes: 150_000 })
  expect(failure).toBeUndefined()
  expect(blocks).toEqual(await slice(range))
  expect(asked.filter(isBulk).length).toBeGreaterThan(4)
})

test('blocks: a parent that is not the previous block ends the stream before its first block', async () => {
  const { blocks, failure } = await read(() => undefined, {
    from: 1200,
    to: 1230,
    parent: 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ',
  })
  const before = (await recordedBlocks())[1199]?.block.hash
  expect(blocks).toEqual([])
  expect(failure).toEqual({
    kind: 'bad_block',
    message: `NODE: Block 1200: parent hash is ${before}, block 1199 has HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ.`,
  })
})

/** A clock whose only running time-out ends when a test says so: an answer is never late. */
function heldTime() {
  let over = (): void => undefined
  const after: Clock['after'] = (_ms, work) => {
    over = work
    return () => {
      over = () => undefined
    }
  }
  return { clock: { ...idleClock(), after }, over: () => over() }
}

test('blocks: a request to a hanging node is abandoned after the time-out, each time', async () => {
  const { clock, over } = heldTime()
  const { failure, asked } = await read(
    ({ path }) => {
      if (!single(path)) return undefined
      over()
      return new Promise<never>(() => undefined)
    },
    { from: 1201, to: 1201 },
    { timeoutMs: 200, tries: 3, clock },
  )
  expect(failure).toEqual({
    kind: 'unavailable',
    message: 'No node responded to block 1201: NODE: no response within 200 ms.',
  })
  expect(asked.filter(single).length).toBe(3)
})

test('blocks: an answer that stops in the middle is abandoned after the time-out', async () => {
  const { clock, over } = heldTime()
  const { failure } = await read(
    ({ path }) =>
      single(path)
        ? new Response(
            new ReadableStream({
              start: async controller => {
                controller.enqueue(Buffer.from('{"status":'))
                // Time for it to arrive.
                await Bun.sleep(50)
                over()
                await new Promise<never>(() => undefined)
              },
            }),
          )
        : undefined,
    { from: 1201, to: 1201 },
    { timeoutMs: 200, tries: 1, clock },
  )
  expect(failure?.message).toBe('No node responded to block 1201: NODE: no response within 200 ms.')
})

test('blocks: leaving the loop early ends the running requests', async () => {
  await using faulty = await startFaultyNode()
  const node = createNode({ urls: [faulty.url], clock: idleClock() })
  const heights: number[] = []
  for await (const { block } of node.blocks({ from: 0, to: 4851 })) {
    heights.push(block.height)
    if (block.height === 3) break
  }
  const asked = faulty.asked.length
  await node.chainInfo()
  expect(heights).toEqual([0, 1, 2, 3])
  expect(faulty.asked.length).toBe(asked + 1)
})

test('blocks: the signal of the caller ends the stream with a deadline', async () => {
  await using faulty = await startFaultyNode()
  const node = createNode({ urls: [faulty.url], clock: idleClock() })
  const caller = new AbortController()
  const heights: number[] = []
  const reading = (async () => {
    for await (const { block } of node.blocks({ from: 1, to: 4851, signal: caller.signal })) {
      heights.push(block.height)
      if (block.height === 2) caller.abort()
    }
  })()
  await expect(reading).rejects.toMatchObject({ kind: 'deadline' })
  expect(heights).toEqual([1, 2])
})

test('blocks: a range with a wrong answer is requested as often as the limit of tries says', async () => {
  const wrong = '/getBlockTxsByContract'
  const { asked } = await read(
    ({ path }) => (path.startsWith(wrong) ? Response.json({}) : undefined),
    { from: 1201, to: 1203 },
    { tries: 3, clock: idleClock() },
  )
  expect(asked.filter(path => path.startsWith(wrong)).length).toBe(3)
})

/** The time-out is so long that it never fires. */
const PATIENT_MS = 3_600_000
const RANGE = { from: 1000, to: 1800 }

/** Reads from two nodes, each with its fault. Returns the bulk calls of each. */
async function readOf(faults: readonly [Fault, Fault]) {
  await using one = await startFaultyNode(faults[0])
  await using other = await startFaultyNode(faults[1])
  const node = createNode({ urls: [one.url, other.url], clock: idleClock(), timeoutMs: PATIENT_MS, prove: 'linked' })
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
  expect(ofOne).toBeGreaterThan(10)
  expect(ofOther).toBeGreaterThan(10)
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
