import { expect, test } from 'bun:test'
import { systemClock } from '#time/clock.ts'
import { createPermits } from './gate.ts'
import { Busy } from './queue.ts'
import { createQueues } from './queues.ts'

const PLAN = { more: async () => undefined, require: () => undefined, mostRows: undefined }
const CAPACITY = { maxInFlight: 16, maxExports: 8, maxFeeds: 8, maxFeedsPerKey: 8 }

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
      ask({ key: `net${at}`, plan: PLAN, isVisitor: true }, () => over.promise).catch(error => {
        if (!(error instanceof Busy) && !left.signal.aborted) throw error
      }),
    )
    for (let turns = 0; turns < 20; turns++) await new Promise(resolve => setImmediate(resolve))
    // The keys' own permits are all free but those of one key.
    let answered = 0
    const note = async (): Promise<void> => {
      answered += 1
    }
    for (let at = 0; at < 40; at++) await ask({ key: 'own', plan: PLAN }, note)
    expect(answered).toBe(40)
    expect(queues.store.permits.count() + queues.store.countWaiting()).toBe(0)
    expect(queues.visitors.permits.count()).toBeLessThanOrEqual(4)
    over.resolve()
    left.abort(new Error('over'))
    await Promise.all(visitors)
  })
