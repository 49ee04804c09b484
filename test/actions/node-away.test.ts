import { afterAll, describe, expect, test } from 'bun:test'
import { createNode } from '#node/create-node.ts'
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

/** A service's node that is looked after; `to`: height of its chain. */
const watched = async (fault: Fault, to?: number) => {
  const faulty = await startFaultyNode(fault, to)
  const clock = handClock()
  const node = createNode({ urls: [faulty.url], clock })
  open.push(faulty)
  nodes.push(node)
  return { node, clock, faulty }
}

const kindsOf = async (node: Node) => {
  const kinds = []
  for (const [action, params] of UNKNOWN)
    for (const compat of ['none', 'iostabc'] as const)
      kinds.push((await refusal(askText(action, params, { deps: { node }, compat }))).kind)
  return [...new Set(kinds)]
}

const hangs: Fault = () => new Promise<never>(() => undefined)

describe('a transaction or block that is not stored', () => {
  test('is not known when the node that was asked has come as far as the store', async () => {
    const { node } = await watched(() => undefined)
    await node.watch(async () => undefined)
    expect((await refusal(ask('get-transaction-detail', { tx_hash: HASH }, { deps: { node } }))).kind).toBe(
      'not_found',
    )
  })
  test('is not denied while the node is gone', async () => {
    const node = createNode({ urls: ['http://127.0.0.1:1'] })
    await node.watch(async () => undefined)
    expect(await kindsOf(node)).toEqual(['unavailable'])
    node.close()
  })
  test('is not denied by a node that is behind the store', async () => {
    const { node } = await watched(() => undefined, 4_000)
    await node.watch(async () => undefined)
    expect(await kindsOf(node)).toEqual(['unavailable'])
  })
  test('is not denied by a node of another chain', async () => {
    const { node } = await watched(() => undefined)
    await node.watch(async () => ({ chainId: 1020, genesis: HASH }))
    expect(await kindsOf(node)).toEqual(['unavailable'])
  })
  test('is not denied while the node hangs, and nothing waits for one that is known to', async () => {
    let hanging = false
    const { node, clock, faulty } = await watched((...call) => (hanging ? hangs(...call) : undefined))
    await node.watch(async () => undefined)
    hanging = true
    // Asked before it is known to hang: given up after two seconds of the request's ten.
    const before = refusal(ask('get-transaction-detail', { tx_hash: HASH }, { deps: { node } }))
    await clock.awaited(2_000)
    await clock.pass(1_000)
    // The look that begins now has one and a half seconds.
    await clock.awaited(1_500)
    await clock.pass(1_000)
    expect((await before).kind).toBe('unavailable')
    await clock.pass(500)
    // It has failed, and the next one is to come.
    await clock.awaited(1_000)
    expect(node.heard()).toBeUndefined()
    const asked = faulty.asked.length
    expect(await kindsOf(node)).toEqual(['unavailable'])
    expect((await ask('get-latest-block', {}, { deps: { node } })).block.number).toBe(4851)
    expect((await ask('get-overview', {}, { deps: { node } })).head_block).toBe('4851')
    const absent = ask('get-account-detail', { account: 'nosuchname' }, { deps: { node } })
    expect((await refusal(absent)).kind).toBe('not_found')
    // No step of time was needed for these, and no question.
    expect(faulty.asked.length).toBe(asked)
  })
})
