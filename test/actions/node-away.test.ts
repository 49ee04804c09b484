import { afterAll, describe, expect, test } from 'bun:test'
import { createNode } from '#node/archive-node.ts'
import type { Node } from '#node/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { type Fault, startFaultyNode } from '#test/support/nodes/faulty-node.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

const HASH = 'FDNr7hubyuUAJjrHmXs3uJ8dCsNjiG6tfgMCnnERRnDC'
const UNKNOWN: readonly (readonly [action: string, params: Readonly<Record<string, string>>])[] = [
  ['get-transaction-detail', { tx_hash: HASH }],
  ['get-transaction-action', { tx_hash: HASH }],
  ['get-transaction-receipt', { tx_hash: HASH }],
  ['get-block-detail', { number: '4860' }],
  ['get-block-detail', { hash: HASH }],
  ['get-block-tx', { number: '4860' }],
  ['get-block-tx', { hash: HASH }],
]

const nodes: Node[] = []
const open: AsyncDisposable[] = []
afterAll(async () => {
  for (const node of nodes) node.close()
  for (const each of open) await each[Symbol.asyncDispose]()
})

/** A monitored node of a service. `to`: height of its chain. */
async function watched(fault: Fault, to?: number) {
  const faulty = await startFaultyNode(fault, to)
  const clock = handClock()
  const node = createNode({ urls: [faulty.url], clock })
  open.push(faulty)
  nodes.push(node)
  return { node, clock, faulty }
}

async function kindsOf(node: Node) {
  const kinds = []
  for (const [action, params] of UNKNOWN)
    for (const compat of ['none', 'iostabc'] as const)
      kinds.push((await refusal(askText(action, params, { deps: { node }, compat }))).kind)
  return [...new Set(kinds)]
}

const hangs: Fault = () => new Promise<never>(() => undefined)

describe('a transaction or block that is not stored', () => {
  test('is not found when the asked node is as high as the store', async () => {
    const { node } = await watched(() => undefined)
    await node.watch(async () => undefined)
    expect((await refusal(ask('get-transaction-detail', { tx_hash: HASH }, { deps: { node } }))).kind).toBe('not_found')
  })
  test('is unavailable while the node is gone', async () => {
    const node = createNode({ urls: ['http://127.0.0.1:1'] })
    await node.watch(async () => undefined)
    expect(await kindsOf(node)).toEqual(['unavailable'])
    node.close()
  })
  test('is unavailable when the node is behind the store', async () => {
    const { node } = await watched(() => undefined, 4_000)
    await node.watch(async () => undefined)
    expect(await kindsOf(node)).toEqual(['unavailable'])
  })
  test('is unavailable when the node belongs to another chain', async () => {
    const { node } = await watched(() => undefined)
    await node.watch(async () => ({ chainId: 1020, genesis: HASH }))
    expect(await kindsOf(node)).toEqual(['unavailable'])
  })
  test('is unavailable while the node hangs, and no request waits for a node that is known to hang', async () => {
    let hanging = false
    const { node, clock, faulty } = await watched((...call) => (hanging ? hangs(...call) : undefined))
    await node.watch(async () => undefined)
    hanging = true
    // A request sent before the node is known to hang gives up after two seconds of its ten.
    const before = refusal(ask('get-transaction-detail', { tx_hash: HASH }, { deps: { node } }))
    await clock.awaited(2_000)
    await clock.pass(1_000)
    // The probe that begins now has a limit of one and a half seconds.
    await clock.awaited(1_500)
    await clock.pass(1_000)
    expect((await before).kind).toBe('unavailable')
    await clock.pass(500)
    // The probe has failed, and the next one is scheduled.
    await clock.awaited(1_000)
    expect(node.lastInfo()).toBeUndefined()
    const asked = faulty.asked.length
    expect(await kindsOf(node)).toEqual(['unavailable'])
    expect((await ask('get-latest-block', {}, { deps: { node } })).block.number).toBe(4851)
    expect((await ask('get-overview', {}, { deps: { node } })).head_block).toBe('4851')
    const absent = ask('get-account-detail', { account: 'nosuchname' }, { deps: { node } })
    expect((await refusal(absent)).kind).toBe('not_found')
    // These answers needed no clock step and no request to the node.
    expect(faulty.asked.length).toBe(asked)
  })
})
