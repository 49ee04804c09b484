import { expect, test } from 'bun:test'
import { keyring } from '#keys/keyring.ts'
import type { Plan } from '#keys/plan.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { turn } from '#test/support/wait.ts'
import { systemClock } from '#time/clock.ts'
import { admit, createPermits, identify } from './gate.ts'
import { createAddressLimits } from './networks.ts'
import { Busy } from './queue.ts'
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
  const arrival = {
    request: new Request('http://127.0.0.1/'),
    client: { network: '203.0.113.7' },
    keys: ['try-it'],
    fault: undefined,
    headers: {},
    logFields: {},
  }
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

/** Every way in which a request out of the store may hold a permit. */
const WAYS = ['store', 'waitForNode', 'waitAfterRead'] as const

for (const way of WAYS)
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
