import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { toExitCode } from '#cli/command.ts'
import type { Log } from '#failure/failure.ts'
import { load } from '#load/load.ts'
import type { RetryPolicy } from '#load/retry.ts'
import type { LoadOptions } from '#load/session.ts'
import { createNode } from '#node/archive-node.ts'
import type { Store } from '#store/port.ts'
import { type Clock, systemClock } from '#time/clock.ts'
import { idleClock } from '../support/clocks/idle-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { turn } from '../support/wait.ts'

const HEIGHT = 60

let place: Awaited<ReturnType<typeof temporarySqlite>>
beforeEach(async () => {
  place = await temporarySqlite()
  await place.store.create()
})
afterEach(() => place.destroy())

/** Pauses are over at once. */
const quickClock: Clock = { ...systemClock, random: () => 0, sleep: turn }

/** A timer that a test ends. */
function heldTimer() {
  let timer: { readonly ms: number; readonly work: () => void } | undefined
  return {
    after: (ms: number, work: () => void) => {
      timer = { ms, work }
      return () => undefined
    },
    asked: () => timer?.ms,
    over: () => timer?.work(),
  }
}

type Told = readonly [level: Parameters<Log>[0], reason: string]
type Loading = { readonly told?: Told[]; readonly store?: Store } & Partial<LoadOptions>

async function loading(fault: Fault, retry: RetryPolicy, { told = [], store = place.store, ...over }: Loading = {}) {
  await using faulty = await startFaultyNode(fault, HEIGHT)
  const node = createNode({ urls: [faulty.url], clock: idleClock(), maxBytes: 2_000_000 })
  try {
    const signal = new AbortController().signal
    const log: Log = (level, message, fields) => {
      if (message === 'Loading paused, trying again.') told.push([level, String(fields?.['reason'])])
    }
    const options = { once: true, signal, onProgress: () => undefined, log, clock: quickClock, retry, ...over }
    return await load({ node, store }, options)
  } finally {
    node.close()
  }
}

/** Exit code and message of a load that ends. */
const endOf = (load: Promise<unknown>): Promise<readonly unknown[]> =>
  load.then(
    done => [0, done],
    (error: unknown) => [toExitCode(error), String(error)],
  )

/** Block 44 lacks its last transaction. */
const dropping: Fault = async (_asked, truth) => {
  const answer = JSON.parse(await truth())
  const list =
    answer.block?.number === '44'
      ? answer.block.transactions
      : answer.blocktx_list?.find((each: { block_number: string }) => each.block_number === '44')?.tx_list
  return list?.pop() === undefined ? undefined : new Response(JSON.stringify(answer))
}
const huge: Fault = ({ path }) => (path === '/getChainInfo' ? undefined : new Response(new Uint8Array(4_000_000)))
const away: Fault = () => new Response('away', { status: 503 })
const anotherChain: Fault = async ({ path }, truth) =>
  path === '/getChainInfo' ? new Response((await truth()).replace('"chain_id":1020', '"chain_id":1024')) : undefined
const none: Fault = () => undefined

const [DROPPED, AWAY] = [/\b44\b/, /status 503/]

test.each([
  ['a transaction is dropped from a block', dropping, 'error', DROPPED],
  ['everything is refused', away, 'warn', AWAY],
  ['the answers are too large', huge, 'error', /too much/],
  ['another chain answers at the address', anotherChain, 'error', /1024/],
] as const)('a load that serves continues after: %s', async (_name, fault, level, says) => {
  // The store already knows its chain.
  if (fault === anotherChain) await loading(none, 'always')
  const told: Told[] = []
  const healing: Fault = (asked, truth) => (told.length < 2 ? fault(asked, truth) : undefined)
  expect(await loading(healing, 'always', { told })).toEqual({ height: HEIGHT })
  expect(told.slice(0, 2)).toEqual(Array(2).fill([level, expect.stringMatching(says)]))
})

describe('a load with a limit on waiting', () => {
  test.each([
    ['a transaction is dropped', dropping, DROPPED],
    ['everything is refused', away, AWAY],
  ] as const)('waits for --wait, then exits with 75 (retry later): %s', async (_name, fault, says) => {
    const timer = heldTimer()
    const told: Told[] = []
    const seen: Fault = (asked, truth) => {
      if (told.length >= 2) timer.over()
      return fault(asked, truth)
    }
    const over = { told, clock: { ...quickClock, after: timer.after } }
    expect(await endOf(loading(seen, { waitMs: 7 }, over))).toEqual([75, expect.stringMatching(says)])
    expect(timer.asked()).toBe(7)
  })
  test('waits for --wait when a node hangs', async () => {
    const timer = heldTimer()
    const hangs: Fault = () => {
      timer.over()
      return new Promise<never>(() => undefined)
    }
    const ended = await endOf(loading(hangs, { waitMs: 7 }, { clock: { ...quickClock, after: timer.after } }))
    expect(ended).toEqual([75, expect.stringContaining('No block could be loaded')])
  })
  test.each([
    ['the last batch is written', none, HEIGHT, [0, { height: HEIGHT }]],
    ['an earlier batch is written', dropping, 0, [75, expect.stringContaining('No block could be')]],
  ] as const)('its limit expires while %s', async (_name, fault, at, end) => {
    const timer = heldTimer()
    const store: Store = {
      ...place.store,
      takeOver: async identity => {
        const writer = await place.store.takeOver(identity)
        return {
          ...writer,
          commit: batch => {
            if (batch.end.height >= at) timer.over()
            return writer.commit(batch)
          },
        }
      },
    }
    const over = { clock: { ...quickClock, after: timer.after }, store }
    expect(await endOf(loading(fault, { waitMs: 7 }, over))).toEqual([...end])
  })
  test("a store whose end differs from the node's: a load with the limit fails at once, one without it waits", async () => {
    await loading(none, { waitMs: 60_000 })
    const forked: Fault = async ({ path }, truth) =>
      path === `/getBlockByNumber/${HEIGHT}/false`
        ? new Response((await truth()).replace(/"hash":"...../, '"hash":"11111'))
        : undefined
    const ended = await endOf(loading(forked, { waitMs: 3_600_000 }))
    expect(ended).toEqual([3, expect.stringContaining('in the store and')])
    const told: Told[] = []
    const healing: Fault = (asked, truth) => (told.length < 2 ? forked(asked, truth) : undefined)
    expect(await loading(healing, { waitMs: Number.POSITIVE_INFINITY }, { told })).toEqual({ height: HEIGHT })
    expect(told.map(([level]) => level)).toEqual(['error', 'error'])
  })
})

test('a load whose store hangs during a commit can be stopped', async () => {
  const stop = new AbortController()
  const store: Store = {
    ...place.store,
    takeOver: async identity => ({
      ...(await place.store.takeOver(identity)),
      commit: () => {
        stop.abort()
        return new Promise<never>(() => undefined)
      },
    }),
  }
  expect(await loading(none, 'always', { store, signal: stop.signal })).toEqual({ height: -1 })
})
