import { expect, test } from 'bun:test'
import { keyring } from '#keys/keyring.ts'
import type { Plan } from '#keys/plan.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { turn } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'
import { admit, createPermits, identify } from './gate.ts'
import { type AddressLimits, createAddressLimits } from './networks.ts'
import { Busy, FairQueue, type QueueBounds, type QueuePermit } from './queue.ts'
import { createQueues } from './queues.ts'
import { createRates } from './rate.ts'

const CAPACITY = { maxInFlight: 16, maxExports: 8, maxFeeds: 8, maxFeedsPerKey: 8 }

/** A gate with a test key, and a way through it from one network. */
function gateOf(plan: Plan) {
  const clock = handClock(0)
  const store = { list: () => Promise.reject(new Error('The test key is not stored.')), read: () => Promise.reject() }
  const gate = {
    keyring: keyring({ store, clock, testKey: { key: 'try-it', plan } }),
    addresses: createAddressLimits(clock),
    rates: createRates({ clock }),
    queues: createQueues({ ...CAPACITY, deadlineMs: 1_000, clock }),
    clock,
  }
  const request = new Request('http://127.0.0.1/')
  const client = { network: '203.0.113.7' }
  const arrival = { request, client, keys: ['try-it'], fault: undefined, headers: {}, logFields: {} }
  const { signal } = new AbortController()
  const enter = async () => admit(arrival, await identify(arrival, gate), { gate, asks: 'store', signal })
  return { clock, gate, arrival, enter }
}

test('the test key: a network uses its share by requests that are admitted, not by looks at what is left', async () => {
  const { gate, arrival, enter } = gateOf({ perSecond: 10, perDay: 4 })
  for (let times = 0; times < 10; times++) expect((await identify(arrival, gate)).id).toBe('test')
  await enter()
  await enter()
  await expect(enter()).rejects.toThrow('its share of the shared test key')
  expect((await identify(arrival, gate)).id).toBe('test')
})

test('the test key: a request that its plan refuses takes nothing from the share of its network', async () => {
  const { clock, gate, enter } = gateOf({ perSecond: 1, perDay: 6 })
  await enter()
  for (let times = 0; times < 5; times++) await expect(enter()).rejects.toThrow('requests per second')
  for (let times = 0; times < 2; times++) {
    await clock.pass(1_000)
    await enter()
  }
  await clock.pass(1_000)
  await expect(enter()).rejects.toThrow('its share of the shared test key')
  expect(gate.rates.left({ id: 'test', plan: { perSecond: 1, perDay: 6 } }).today).toBe(3)
})

const UNLIMITED = { more: async () => undefined, require: () => undefined, mostRows: undefined }

// Every way in which a request out of the store may hold a permit.
for (const way of ['store', 'waitForNode', 'waitAfterRead'] as const)
  test(`visitors: ${way}: however many networks ask, a caller with a key gets its turn`, async () => {
    const queues = createQueues({ ...CAPACITY, deadlineMs: 600_000, clock: systemClock })
    const left = new AbortController()
    const over = Promise.withResolvers<void>()
    const ask = async (caller: Parameters<typeof createPermits>[1], work: () => Promise<void>): Promise<void> => {
      const permit = await createPermits(queues, caller).store(left.signal)()
      try {
        if (way === 'store') await work()
        else await permit[way](work)
      } finally {
        permit.leave()
      }
    }
    const visitors = Array.from({ length: 700 }, (_, at) =>
      ask({ key: `net${at}`, plan: UNLIMITED, isVisitor: true }, () => over.promise).catch(error => {
        if (!(error instanceof Busy) && !left.signal.aborted) throw error
      }),
    )
    for (let turns = 0; turns < 20; turns++) await turn()
    // The keys' own permits are all free but those of one key.
    for (let at = 0; at < 40; at++) await ask({ key: 'own', plan: UNLIMITED }, async () => undefined)
    expect(queues.store.permits.count() + queues.store.countWaiting()).toBe(0)
    expect(queues.visitors.permits.count()).toBeLessThanOrEqual(4)
    over.resolve()
    left.abort(new Error('over'))
    await Promise.all(visitors)
  })

const PLAN = { perSecond: 1, perDay: 100 }

/** Limits at a time that is set by hand. */
function limits(maxNetworks = 1_000) {
  const at = { time: 1_000_000 }
  return { at, one: createAddressLimits({ elapsed: () => at.time }, maxNetworks) }
}

test('wrong keys: a hundred a minute are allowed, then one every 600 ms', () => {
  const { at, one } = limits()
  for (let times = 0; times < 100; times++) {
    expect(one.wrongKeyWaitMs('a')).toBe(0)
    one.noteWrongKey('a')
  }
  expect([one.wrongKeyWaitMs('a'), one.wrongKeyWaitMs('b')]).toEqual([600, 0])
  // Refused requests do not lengthen the wait.
  for (let times = 0; times < 300; times++) one.noteWrongKey('a')
  at.time += 600
  expect(one.wrongKeyWaitMs('a')).toBe(0)
  one.noteWrongKey('a')
  expect(one.wrongKeyWaitMs('a')).toBe(600)
  at.time += 60_000
  for (let times = 0; times < 100; times++) one.noteWrongKey('a')
  expect(one.wrongKeyWaitMs('a')).toBe(600)
})

test('test key: a network has half of the total limit as a burst, in a minute and in a day', () => {
  const { at, one } = limits()
  for (let times = 0; times < 30; times++) expect(one.test('a', PLAN)).toBe(0)
  expect([one.test('a', PLAN), one.test('b', PLAN)]).toEqual([2_000, 0])
  at.time += 60_000
  for (let times = 0; times < 20; times++) expect(one.test('a', PLAN)).toBe(0)
  // Fifty requests of the day are used, and one becomes available every 1,728 seconds.
  expect(one.test('a', PLAN)).toBeGreaterThan(1_600_000)
})

test('networks: those with the fewest failures are evicted, and those with the most are not', () => {
  const { one } = limits(8)
  for (let times = 0; times < 100; times++) one.noteWrongKey('guesser')
  for (let other = 0; other < 100; other++) {
    one.noteWrongKey(`n${other}`)
    expect(one.wrongKeyWaitMs('guesser')).toBe(600)
  }
  for (let times = 0; times < 99; times++) one.noteWrongKey('n99')
  expect([one.wrongKeyWaitMs('n99'), one.wrongKeyWaitMs('n0')]).toEqual([600, 0])
})

/** IPv6 networks (/64) of one customer: all of a /56, or of a /48 with one in each /56. */
const WITHIN = {
  '/56': (at: number) => `20010db80001aa${(at % 256).toString(16).padStart(2, '0')}`,
  '/48': (at: number) => `20010db80001${(at % 256).toString(16).padStart(2, '0')}00`,
} as const

const LIMITS: Readonly<Record<string, (limits: AddressLimits, network: string) => number>> = {
  visit: (limits, network) => limits.visit(network),
  refresh: (limits, network) => limits.refresh(network),
  'wrong key': (limits, network) => {
    const wait = limits.wrongKeyWaitMs(network)
    if (wait === 0) limits.noteWrongKey(network)
    return wait
  },
  'test key': (limits, network) => limits.test(network, { perSecond: 10, perDay: 1_000_000 }),
}

for (const [what, count] of Object.entries(LIMITS))
  test(`networks: ${what}: a customer with many IPv6 networks has the limits of the networks around them`, () => {
    const alone = (limits: AddressLimits, of: (at: number) => string): number => {
      let counted = 0
      while (counted < 100_000 && count(limits, of(counted)) === 0) counted += 1
      return counted
    }
    const own = alone(limits().one, () => '20010db800010000')
    for (const [name, most] of [
      ['/56', 2],
      ['/48', 4],
    ] as const) {
      const { one } = limits()
      expect([name, alone(one, WITHIN[name])]).toEqual([name, own * (what === 'test key' ? 1 : most)])
      // Another customer, and IPv4 addresses with the same first digits, are free.
      expect([count(one, '20010db80002aa00'), count(one, '20010db8')]).toEqual([0, 0])
    }
  })

const WIDE: QueueBounds = { running: 100, runningOfKey: 100, waiting: 1_000, waitingOfKey: 1_000 }
const AGE_MS = 1_000
const never = new AbortController().signal

/** A queue whose work ends on request. */
function openQueue(bounds: Partial<QueueBounds>) {
  const clock = handClock(0)
  const queue = new FairQueue({ ...WIDE, ...bounds }, AGE_MS, clock)
  const running: { key: string; end: () => void; permit: QueuePermit }[] = []
  const ended: string[] = []
  const run = (key: string, signal = never): void => {
    const work = async (): Promise<void> => {
      const permit = await queue.take(key, signal)
      const over = Promise.withResolvers<void>()
      running.push({ key, end: over.resolve, permit })
      await over.promise
      permit.leave()
    }
    work().catch((error: Error & { kind?: string }) => ended.push(`${key} ${error.kind ?? error.message}`))
  }
  const keys = () => running.map(({ key }) => key).join('')
  return { clock, queue, running, ended, run, keys }
}

test('take: keys take turns, and every other turn is of the key with the fewest waiting requests', async () => {
  const { run, clock, running, keys } = openQueue({ running: 1 })
  run('x')
  for (const key of 'aaaaaabbcaa') run(key)
  for (let turn = 0; turn < 12; turn++) {
    await clock.settle()
    running.at(-1)?.end()
    await clock.settle()
  }
  expect(keys()).toBe('xacbbaaaaaaa')
})

test('take: a key has at most its share of the running and of the waiting requests', async () => {
  const { run, clock, keys, ended } = openQueue({ running: 4, runningOfKey: 2, waitingOfKey: 3 })
  for (const key of 'aaaaaaab') run(key)
  await clock.settle()
  expect([keys(), ended]).toEqual(['aab', ['a unavailable', 'a unavailable']])
})

test('take: a full queue drops a request of a key with more for a key with fewer, and refuses the rest', async () => {
  const { run, clock, keys, ended } = openQueue({ running: 1, waiting: 4 })
  run('x')
  await clock.settle()
  for (const key of 'aaaab') run(key)
  await clock.settle()
  expect(ended).toEqual(['a unavailable'])
  for (const key of 'ca') run(key)
  await clock.settle()
  expect([keys(), ended]).toEqual(['x', ['a unavailable', 'a unavailable', 'a unavailable']])
})

test('take: a request that waited too long is refused even if nothing else happens', async () => {
  const { run, clock, ended, running, keys } = openQueue({ running: 1 })
  run('x')
  await clock.settle()
  run('a')
  await clock.pass(500)
  run('b')
  await clock.pass(499)
  expect(ended).toEqual([])
  await clock.pass(251)
  expect(ended).toEqual(['a unavailable'])
  running[0]?.end()
  await clock.settle()
  expect(keys()).toBe('xb')
})

test('take: requests of a key that may start are not refused after the machine was busy for long', async () => {
  const { run, clock, ended, keys } = openQueue({ running: 3, runningOfKey: 2 })
  for (const key of 'aaab') run(key)
  // Time passes without a turn of the event loop.
  clock.leap(5_000)
  await clock.settle()
  expect([keys(), ended]).toEqual(['aab', ['a unavailable']])
})

test('take: the request of a client that leaves is removed from the queue and does not start', async () => {
  const { run, clock, ended, running, queue } = openQueue({ running: 1, waitingOfKey: 1 })
  run('x')
  await clock.settle()
  const client = new AbortController()
  run('a', client.signal)
  client.abort(new Error('gone'))
  run('a')
  await clock.settle()
  expect(ended).toEqual(['a gone'])
  running[0]?.end()
  await clock.settle()
  expect(running).toHaveLength(2)
  await expect(queue.take('b', client.signal)).rejects.toThrow('gone')
})

test('take: a released permit goes to the next request once', async () => {
  const { run, clock, running, keys } = openQueue({ running: 1 })
  for (const key of 'abc') run(key)
  await clock.settle()
  running[0]?.permit.leave()
  running[0]?.permit.leave()
  await clock.settle()
  expect(keys()).toBe('ab')
  running[0]?.end()
  await clock.settle()
  expect(keys()).toBe('ab')
})

test('take: a request starts at once while none waits', async () => {
  const { queue } = openQueue({ running: 2 })
  const taken = (async () => {
    for (const key of 'ab') (await queue.take(key, never)).leave()
  })()
  expect(await Promise.race([taken.then(() => 'taken'), turn().then(() => 'a turn later')])).toBe('taken')
})

test('take: work that never waits lets other tasks run regularly', async () => {
  const { queue, clock } = openQueue({ running: 1 })
  let over = 0
  const work = async (): Promise<void> => {
    const permit = await queue.take('a', never)
    clock.leap(4)
    permit.leave()
    over += 1
  }
  const all = Array.from({ length: 20 }, work)
  // Some of the requests end in each turn.
  let turns = 0
  for (; over < 20; turns += 1) await turn()
  await Promise.all(all)
  expect(turns).toBeGreaterThan(3)
})
