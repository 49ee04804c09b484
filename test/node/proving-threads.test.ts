import { expect, test } from 'bun:test'
import { changesProducers } from '#chain/effects.ts'
import { createWorkerOpener } from '#cli/threads/loading-threads.ts'
import { type OpenProvingThread, type ProveReply, type ProveRequest, packBlocks, unpackBlocks } from '#node/bulk.ts'
import type { BlockEvent } from '#node/prove-blocks.ts'
import type { Fault } from '../support/nodes/faulty-node.ts'
import { at, changed, isBulk, read, slice } from '../support/nodes/read-blocks.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'

const RANGE = { from: 1000, to: 1400 }
const open = createWorkerOpener<ProveRequest, ProveReply>(new URL('../../src/proving-thread.ts', import.meta.url))
const threads = { open, count: 2, least: 300 }
const honest: Fault = () => undefined

/** Threads that die: each ends when it receives its answers with this number. */
const mortal =
  (last: number): OpenProvingThread =>
  listener => {
    const thread = open(listener)
    let given = 0
    return { ...thread, post: asked => (++given === last ? thread.end() : thread.post(asked)) }
  }

test('message: blocks arrive unchanged', async () => {
  const parts = (await recordedBlocks()).slice(700, 1_300).map(({ block }) => ({ block }))
  expect(unpackBlocks(structuredClone(packBlocks(parts)))).toEqual(parts)
  const holes = [{}, ...parts.slice(500, 503), {}]
  expect(unpackBlocks(structuredClone(packBlocks(holes)))).toEqual(holes)
})

test('threads: blocks and proofs are the same as without threads', async () => {
  const given = await read(honest, RANGE, { threads })
  expect(given.failure).toBeUndefined()
  expect(given.blocks).toEqual([...(await slice(RANGE))])
  expect(given.proofs.filter(({ level }) => level !== 'signed')).toEqual([])
  const unsigned = given.blocks.filter((_, index) => given.proofs[index]?.signedBy === undefined)
  expect(unsigned.filter(({ block }) => changesProducers(block))).toEqual([])
  expect(given.proofs.at(-1)?.signedBy).toBe(given.blocks.at(-1)?.block.witness ?? '')
  const alone = await read(honest, RANGE)
  // Answers that a thread has proved are not requested again. Whether the last block is a range of its own
  // depends on the order of the answers before it.
  const single = ({ asked }: typeof given) =>
    asked.filter(path => !isBulk(path) && !path.startsWith(`/getBlockByNumber/${RANGE.to}/`)).sort()
  expect(single(given)).toEqual(single(alone))
})

test('threads: none start for too few blocks', async () => {
  const never: OpenProvingThread = () => {
    throw new Error('A thread was opened.')
  }
  const range = { from: 1_200, to: 1_210 }
  const given = await read(honest, range, { threads: { open: never, count: 2, least: 12 } })
  expect([given.failure, given.blocks.length]).toEqual([undefined, 11])
})

test('threads: the main thread continues when they die, and no block is missing', async () => {
  const events: BlockEvent[] = []
  const onBlockEvent = (event: BlockEvent) => events.push(event)
  const given = await read(honest, RANGE, { threads: { ...threads, open: mortal(3) }, onBlockEvent })
  expect(given.blocks).toEqual([...(await slice(RANGE))])
  expect(given.failure).toBeUndefined()
  expect(events.map(({ type }) => type)).toEqual(['thread_died', 'thread_died'])
})

const forged = (text: string): string =>
  text.replaceAll('"func_name":"token.iost/transfer"', '"func_name":"token.iost/transfers"')

test('threads: a bulk answer that is wrong once is requested again', async () => {
  const lie = at(path => path === '/getBlockTxsByContract', changed(forged), 5)
  const given = await read(lie, RANGE, { threads })
  expect(given.blocks).toEqual([...(await slice(RANGE))])
  expect(given.failure).toBeUndefined()
})

test.each([
  ['contents', (path: string) => path === '/getBlockTxsByContract' || path.startsWith('/getBlockByNumber'), forged],
  ['no JSON', isBulk, (text: string) => text.slice(0, -9)],
  ['no heads', (path: string) => path === '/getBlockHeaderByRange', () => '{"block_list":[]}'],
] as const)('threads: a lying node (%s) fails as without threads', async (_, match, change) => {
  const lie = at(match, changed(change))
  const [given, alone] = [await read(lie, RANGE, { threads }), await read(lie, RANGE)]
  // Several blocks are requested at once, and which of them fails first is random.
  const said = ({ failure }: typeof given) => ({
    ...failure,
    message: failure?.message.replace(/[1-9A-HJ-NP-Za-km-z]{43,44}|\d+/g, '#'),
  })
  expect(said(given)).toEqual(said(alone))
  expect(given.failure).toBeDefined()
  expect(given.blocks).toEqual(alone.blocks)
})
