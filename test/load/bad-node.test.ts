import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { load } from '#load/load.ts'
import { createNode } from '#node/archive-node.ts'
import type { Store } from '#store/port.ts'
import { turn, until } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { type FaultyNode, isAskedFor, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { forgedChain, type Written } from '../support/nodes/forged-chain.ts'
import { at, changed, json } from '../support/nodes/read-blocks.ts'
import { recording } from '../support/nodes/recording.ts'
import { failureOf } from '../support/refusal.ts'
import { type Dump, differences, dumpSqlite } from '../support/stores/dump.ts'
import { loadedFile } from '../support/stores/loaded.ts'
import { loadOnce, temporarySqlite } from '../support/stores/loading.ts'

const HEIGHT = 820
/** The only block with faults. Its second transaction moves tokens, and it has a third one. */
const BAD = 747
/** Of an answer: more than any of the recorded chain has. */
const MOST_BYTES = 4_000_000

/** The chain with block BAD altered. `rehashed`: with all hashes made to fit. */
const forging =
  (alter: (block: Written) => void, rehashed = true) =>
  async () =>
    startFaultyNode(undefined, undefined, forgedChain(await recording(), { height: BAD, alter, rehashed }, HEIGHT))

function forgeAmount({ transactions }: Written): void {
  const receipt = transactions[1]?.tx_receipt.receipts[0]
  if (receipt !== undefined) receipt.content = receipt.content.replace(/"[0-9.]+","/, '"999999","')
}
function spoilMemo({ transactions }: Written): void {
  const action = transactions[2]?.actions[0]
  if (action !== undefined) action.data = action.data.replace(/"\]$/, '\ufffd"]')
}

/** Faults at which a load must stop. `test/proof/proof-table.test.ts` alters each field of a block. */
const LIES: readonly (readonly [name: string, start: () => Promise<FaultyNode>])[] = [
  ['a receipt with another amount', forging(forgeAmount, false)],
  ['a receipt with another amount, and its hashes', forging(forgeAmount)],
  [
    'lost bytes in another memo, a forged amount, and its hashes',
    forging(block => {
      spoilMemo(block)
      forgeAmount(block)
    }),
  ],
  [
    'another info, a forged amount, and its hashes',
    forging(block => {
      forgeAmount(block)
      block['info'] = { mode: 1, thread: 0, batch_index: [] }
    }),
  ],
  [
    'JSON cut in the middle',
    () =>
      startFaultyNode(async (asked, truth) => {
        if (!isAskedFor(BAD, asked)) return undefined
        const text = await truth()
        return json(text.slice(0, text.length / 2))
      }),
  ],
]

const ABSURD = '1000000000000000'

/** Answers that a node, or a proxy between the service and it, may give for a moment. */
const PASSING: readonly ((truth: string) => Response)[] = [
  () => new Response('busy', { status: 503 }),
  truth => new Response(truth.slice(0, 100)),
  () => new Response('{"code":2,"message":"block not found"}', { status: 400 }),
  () => new Response(null, { status: 302, headers: { location: '/elsewhere' } }),
  () => new Response('who?', { status: 401 }),
  () => new Response(null, { status: 204 }),
  () => new Response(new Uint8Array(MOST_BYTES + 1)),
]

describe('a faulty node', () => {
  let clean: Dump
  /** A store loaded up to some blocks before the bad one. Those blocks have no fault. */
  let begun: Awaited<ReturnType<typeof temporarySqlite>>
  beforeAll(async () => {
    begun = await temporarySqlite(await loadedFile(BAD - 20))
    clean = dumpSqlite(await loadedFile(HEIGHT))
  })
  afterAll(() => begun.destroy())

  /** Runs work on a copy of that store, which must contain the whole chain afterwards. */
  const completing = async (work: (store: Store) => Promise<void>): Promise<void> => {
    const { store, path, destroy } = await temporarySqlite(begun.path)
    await work(store)
    expect(differences(dumpSqlite(path), clean)).toEqual([])
    await destroy()
  }
  const loading = async (url: string, store: Store, { signal } = new AbortController(), sleep = systemClock.sleep) => {
    // A separate clock, so that no test waits for a back-off.
    const node = createNode({ urls: [url], clock: idleClock(), maxBytes: MOST_BYTES })
    try {
      await store.create()
      return await loadOnce(node, store, { to: HEIGHT, signal, clock: { ...systemClock, random: () => 0, sleep } })
    } finally {
      node.close()
    }
  }

  test.each(LIES)('%s: the load stops before that block, and continues when it is corrected', (_, start) =>
    completing(async store => {
      {
        await using node = await start()
        expect((await failureOf(loading(node.url, store))).kind).toBe('bad_block')
      }
      expect((await store.published())?.height ?? -1).toBeLessThan(BAD)
      await using honest = await startFaultyNode()
      expect(await loading(honest.url, store)).toEqual({ height: HEIGHT })
    }),
  )

  test('temporary failures of every kind, at every third call, change no document', () =>
    completing(async store => {
      const controller = new AbortController()
      let calls = 0
      await using node = await startFaultyNode(async ({ path }, truth) => {
        if (path === '/getChainInfo' && calls < PASSING.length) return undefined
        // A load that needs more calls than this has begun anew many times.
        if (++calls > 10_000) controller.abort()
        return calls % 3 !== 0 ? undefined : PASSING[(calls / 3) % PASSING.length]?.(await truth())
      })
      const { sleep } = idleClock()
      expect(await loading(node.url, store, controller, sleep)).toEqual({ height: HEIGHT })
      expect(calls).toBeGreaterThanOrEqual(3 * PASSING.length)
    }))

  test('the load waits for a node that is away for a while', () =>
    completing(async store => {
      let away = false
      let refused = 0
      await using node = await startFaultyNode(asked => {
        if (isAskedFor(BAD, asked)) away = true
        if (!away || refused === 15) return undefined
        refused++
        return new Response('gone', { status: 502 })
      })
      expect(await loading(node.url, store)).toEqual({ height: HEIGHT })
      expect(refused).toBe(15)
    }))

  test('an absurd or decreasing last irreversible block is waited out and never stored', () =>
    completing(async store => {
      let looks = 0
      await using node = await startFaultyNode(async ({ path: asked }, truth) => {
        if (asked !== '/getChainInfo') return undefined
        const said = [undefined, ABSURD, ABSURD, undefined, ABSURD, '20', '20'][looks++]
        if (said === undefined) return undefined
        return new Response(
          (await truth()).replace(/"(lib_block|head_block)":"\d+"/g, (_, name) => `"${name}":"${said}"`),
        )
      }, BAD)
      const controller = new AbortController()
      const { signal } = controller
      const lines: string[] = []
      const source = createNode({ urls: [node.url], clock: idleClock() })
      const following = load(
        { node: source, store },
        {
          ...{ once: false, signal, onProgress: () => undefined },
          log: (_, message) => lines.push(message),
          clock: { ...systemClock, random: () => 0, sleep: turn },
        },
      )
      await until(async () => looks > 10)
      node.setHeight(HEIGHT)
      await until(async () => (await store.published())?.height === HEIGHT)
      controller.abort()
      await following
      source.close()
      expect((await store.published())?.lib).toBe(HEIGHT)
      expect(lines.filter(line => !line.includes('stands still'))).toEqual([
        'The node does not have the last irreversible block it reports; retrying.',
        'The node does not have the last irreversible block it reports; retrying.',
        "The node's last irreversible block is below the loaded height; waiting for the node.",
      ])
    }))

  test('a node of another chain is refused, and for one below the checkpoint the load waits', async () => {
    const { store, destroy } = await temporarySqlite()
    await using node = await startFaultyNode(undefined, 50)
    expect(await loading(node.url, store)).toEqual({ height: 50 })
    const foreign = changed(text => text.replace('"chain_id":1020', '"chain_id":1024'))
    await using other = await startFaultyNode(at(path => path === '/getChainInfo', foreign))
    const refused = await failureOf(loading(other.url, store))
    expect(refused).toMatchObject({ kind: 'conflict', message: expect.stringContaining('1024') as string })
    node.setHeight(40)
    const waiting = loading(node.url, store)
    await until(() => node.asked.length > 30)
    node.setHeight(60)
    expect(await waiting).toEqual({ height: 60 })
    await destroy()
  })
})
