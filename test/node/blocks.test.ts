import { expect, test } from 'bun:test'
import { createNode } from '#node/archive-node.ts'
import type { Clock } from '#time/clock.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { isBulk, type Range, read, single, slice } from '../support/nodes/read-blocks.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { SOAK } from '../support/processes/soak.ts'

const honest: Fault = () => undefined
/** All of them are read when the recorded chain is loaded for the other tests. */
const MANY: Range = { from: 700, to: SOAK ? 4851 : 1700 }

test('blocks: every block built from bulk answers equals the one decoded by itself', async () => {
  const { blocks, asked, failure } = await read(honest, MANY)
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
  const { blocks } = await read(honest, { from, to, ...(parent === undefined ? {} : { parent }) })
  expect(blocks).toEqual(await slice({ from, to }))
})

test('blocks: ranges whose answers are too large are halved until they fit', async () => {
  const range = { from: 2391, to: 2440 }
  const { blocks, failure, asked } = await read(honest, range, { maxBytes: 150_000 })
  expect(failure).toBeUndefined()
  expect(blocks).toEqual(await slice(range))
  expect(asked.filter(isBulk).length).toBeGreaterThan(4)
})

test('blocks: a parent that is not the previous block ends the stream before its first block', async () => {
  const parent = 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ'
  const { blocks, failure } = await read(honest, { from: 1200, to: 1230, parent })
  const before = (await recordedBlocks())[1199]?.block.hash
  const message = `NODE: Block 1200: parent hash is ${before}, block 1199 has ${parent}.`
  expect([blocks, failure]).toEqual([[], { kind: 'bad_block', message }])
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

const never = () => new Promise<never>(() => undefined)
/** An answer that stops in the middle. */
const stopping = (over: () => void) =>
  new ReadableStream({
    start: async controller => {
      controller.enqueue(Buffer.from('{"status":'))
      // Time for it to arrive.
      await Bun.sleep(50)
      over()
      await never()
    },
  })

test.each([
  ['a request to a hanging node', 3, 3],
  ['an answer that stops in the middle', 1, 2],
])('blocks: %s is abandoned after the time-out, each time', async (_, tries, most) => {
  const { clock, over } = heldTime()
  const fault: Fault = ({ path }) => {
    if (!single(path)) return undefined
    if (tries === 1) return new Response(stopping(over))
    over()
    return never()
  }
  const { failure, asked } = await read(fault, { from: 1201, to: 1201 }, { timeoutMs: 200, tries, clock })
  const message = 'No node responded to block 1201: NODE: no response within 200 ms.'
  expect(failure).toEqual({ kind: 'unavailable', message })
  const requests = asked.filter(single).length
  expect([requests >= tries, requests <= most]).toEqual([true, true])
})

test('blocks: leaving the loop early ends the running requests, and the signal of the caller ends the stream', async () => {
  await using faulty = await startFaultyNode()
  const node = createNode({ urls: [faulty.url], clock: idleClock() })
  const heights: number[] = []
  for await (const { block } of node.blocks({ from: 0, to: 4851 })) if (heights.push(block.height) === 4) break
  const asked = faulty.asked.length
  await node.chainInfo()
  expect(faulty.asked.length).toBe(asked + 1)
  const caller = new AbortController()
  const reading = (async () => {
    for await (const { block } of node.blocks({ from: 4, to: 4851, signal: caller.signal }))
      if (heights.push(block.height) === 6) caller.abort()
  })()
  await expect(reading).rejects.toMatchObject({ kind: 'deadline' })
  expect(heights).toEqual([0, 1, 2, 3, 4, 5])
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

test.each([
  ['each of two nodes is asked for a part', honest, [10, 4]],
  ['a node that never answers bulk calls delays nothing', ({ path }) => (isBulk(path) ? never() : undefined), [0, 0.5]],
  ['a failing node is left', ({ path }) => (isBulk(path) ? new Response('', { status: 503 }) : undefined), [0, 0.5]],
] as readonly (readonly [string, Fault, readonly [number, number]])[])(
  'blocks: %s, and all blocks are returned',
  async (_, fault, [atLeast, share]) => {
    await using one = await startFaultyNode(fault)
    await using other = await startFaultyNode()
    const urls = [one.url, other.url]
    const node = createNode({ urls, clock: idleClock(), timeoutMs: PATIENT_MS, prove: 'linked' })
    await node.chainInfo()
    const blocks = await Array.fromAsync(node.blocks(RANGE))
    node.close()
    expect(blocks).toEqual([...(await slice(RANGE))])
    const [ofOne = 0, ofOther = 0] = [one, other].map(({ asked }) => asked.filter(({ path }) => isBulk(path)).length)
    expect([ofOne >= atLeast, ofOther >= 10, ofOne < ofOther * share]).toEqual([true, true, true])
  },
)
