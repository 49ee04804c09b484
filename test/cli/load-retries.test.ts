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

const HEIGHT = 300
const BAD = 222

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

async function loading(
  fault: Fault,
  retry: RetryPolicy,
  {
    told = [],
    store = place.store,
    ...over
  }: { readonly told?: Told[]; readonly store?: Store } & Partial<LoadOptions> = {},
) {
  await using faulty = await startFaultyNode(fault, HEIGHT)
  const node = createNode({ urls: [faulty.url], clock: idleClock(), maxBytes: 2_000_000 })
  try {
    const signal = new AbortController().signal
    const log: Log = (level, message, fields) => {
      if (message === 'Loading paused, trying again.') told.push([level, String(fields?.['reason'])])
    }
    const options = {
      once: true,
      signal,
      onProgress: () => undefined,
      log,
      clock: quickClock,
      retry,
      ...over,
    }
    return await load({ node, store }, options)
  } finally {
    node.close()
  }
}

/** The answers that contain block BAD, without its last transaction. */
async function dropped(truth: () => Promise<string>): Promise<Response | undefined> {
  const answer = JSON.parse(await truth()) as {
    readonly block?: { readonly number: string; readonly transactions: unknown[] }
    readonly blocktx_list?: readonly { readonly block_number: string; readonly tx_list: unknown[] }[]
  }
  const list =
    answer.block?.number === String(BAD)
      ? answer.block.transactions
      : answer.blocktx_list?.find(({ block_number }) => block_number === String(BAD))?.tx_list
  return list?.pop() === undefined ? undefined : new Response(JSON.stringify(answer))
}

const FAULTS: readonly (readonly [name: string, fault: Fault, level: string, says: RegExp])[] = [
  [
    'a transaction is dropped from a block',
    ({ path }, truth) => (path === '/getChainInfo' ? undefined : dropped(truth)),
    'error',
    /222/,
  ],
  [
    'an answer is far too large',
    ({ path }) =>
      path === '/getChainInfo' || path.startsWith('/getBlockByNumber/0/')
        ? undefined
        : new Response(new Uint8Array(2_000_001)),
    'error',
    /is over 1048576 bytes/,
  ],
  ['everything is refused', () => new Response('away', { status: 503 }), 'warn', /status 503/],
  [
    'another chain answers at the address',
    async ({ path }, truth) =>
      path === '/getChainInfo'
        ? new Response((await truth()).replace('"chain_id":1020', '"chain_id":1024'))
        : undefined,
    'error',
    /1024/,
  ],
]

describe('a load in a process that also serves', () => {
  test.each(FAULTS)('continues by itself when the node recovers: %s', async (_name, fault, level, says) => {
    // The store already knows its chain.
    const told: Told[] = []
    await loading(() => undefined, 'always')
    expect((await place.store.published())?.height).toBe(HEIGHT)
    const fresh = await temporarySqlite()
    await fresh.store.create()
    let broken = true
    const healing: Fault = (asked, truth) => {
      if (told.length >= 2) broken = false
      return broken ? fault(asked, truth) : undefined
    }
    const store = level === 'error' && says.source === '1024' ? place.store : fresh.store
    expect(await loading(healing, 'always', { told, store })).toEqual({ height: HEIGHT })
    expect(told.slice(0, 2)).toEqual(Array(2).fill([level, expect.stringMatching(says)]))
    await fresh.destroy()
  })
})

describe('a load with a limit on waiting', () => {
  test.each(FAULTS.slice(0, 3))(
    'waits for --wait, then exits with 75 (retry later): %s',
    async (_name, fault, _level, says) => {
      const timer = heldTimer()
      const told: Told[] = []
      const seen: Fault = (asked, truth) => {
        if (told.length >= 2) timer.over()
        return fault(asked, truth)
      }
      const failed = await loading(seen, { waitMs: 7 }, { told, clock: { ...quickClock, after: timer.after } }).catch(
        (error: unknown) => error,
      )
      expect([toExitCode(failed), String(failed)]).toEqual([75, expect.stringMatching(says)])
      expect(timer.asked()).toBe(7)
    },
  )
  test('waits for --wait when a node hangs', async () => {
    const timer = heldTimer()
    const hangs: Fault = () => {
      timer.over()
      return new Promise<never>(() => undefined)
    }
    const failed = await loading(hangs, { waitMs: 7 }, { clock: { ...quickClock, after: timer.after } }).catch(
      (error: unknown) => error,
    )
    expect([toExitCode(failed), String(failed)]).toEqual([75, expect.stringContaining('No block could be loaded')])
  })
  test.each([
    ['the last batch is written', () => undefined, HEIGHT, [0, { height: HEIGHT }]],
    ['an earlier batch is written', FAULTS[0]?.[1], 0, [75, expect.stringContaining('No block could be')]],
  ] as const)('its limit expires while %s', async (_name, fault = () => undefined, at, end) => {
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
    const ended = await loading(fault, { waitMs: 7 }, over).then(
      done => [0, done],
      (error: unknown) => [toExitCode(error), String(error)],
    )
    expect(ended).toEqual([...end])
  })
  test('ends at once if the node has another chain', async () => {
    await loading(() => undefined, { waitMs: 60_000 })
    const told: Told[] = []
    const failed = await loading(FAULTS[3]?.[1] ?? (() => undefined), { waitMs: 3_600_000 }, { told }).catch(
      (error: unknown) => error,
    )
    expect([toExitCode(failed), told]).toEqual([3, []])
  })
  test("a store whose end differs from the node's: a load with the limit fails at once, one without it waits", async () => {
    await loading(() => undefined, { waitMs: 60_000 })
    const forked: Fault = async ({ path }, truth) =>
      path === `/getBlockByNumber/${HEIGHT}/false`
        ? new Response((await truth()).replace(/"hash":"...../, '"hash":"11111'))
        : undefined
    const failed = await loading(forked, { waitMs: 3_600_000 }).catch((error: unknown) => error)
    expect([toExitCode(failed), String(failed)]).toEqual([3, expect.stringContaining('in the store and')])
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
  expect(await loading(() => undefined, 'always', { store, signal: stop.signal })).toEqual({ height: -1 })
})
