import { expect, test } from 'bun:test'
import { type FeedFollower, feedHub } from '#actions/feed/hub.ts'
import type { Message } from '#actions/feed/message.ts'
import { openOutbox } from '#actions/feed/outbox.ts'
import { Failure } from '#failure/failure.ts'
import type { Published, Store } from '#store/port.ts'
import { handClock } from '../support/clocks/hand-clock.ts'

/** Readers of rows and readers of heights in one thread do not disturb each other. */

const at = (height: number) => ({ height, hash: `hash ${height}` }) as Published

/** A hub over a store whose rows are read by `read`. Its height increases by one with each look. */
function started(read: (signal: AbortSignal | undefined) => Promise<never>) {
  const clock = handClock()
  let height = 0
  const answers: { published?: () => Promise<Published> } = {}
  const store = {
    published: () => answers.published?.() ?? Promise.resolve(at(++height)),
    read: (_, { signal } = {}) => read(signal),
  } satisfies Pick<Store, 'published' | 'read'>
  const heights: number[] = []
  const ends: string[] = []
  const hub = feedHub(store, clock, undefined)
  const watch = () =>
    hub.watch({
      published: ({ height }) => heights.push(height),
      beat: () => undefined,
      end: ({ message }) => ends.push(message),
    })
  const follower = (): FeedFollower => ({
    list: {
      name: 'blocks',
      followed: { kind: 'blocks' },
      isHead: false,
      rows: async () => [] as never,
      options: { numbers: 'number' },
    },
    next: 2,
    hasPacked: false,
    outbox: openOutbox<Message>(),
  })
  const join = (one: FeedFollower): boolean => hub.join(one, { end: at(0), count: 1 })
  return { clock, hub, heights, ends, watch, follower, join, answers }
}

test('feedHub: slow or stuck reads of rows delay no height and end no live page', async () => {
  let reads = 0
  const { clock, heights, ends, watch, follower, join } = started(signal => {
    reads += 1
    return new Promise((_, reject) =>
      signal?.addEventListener('abort', () => reject(new Failure('unavailable', 'No rows.'))),
    )
  })
  watch()
  const one = follower()
  expect(join(one)).toBe(true)
  await clock.pass(4_000)
  expect([heights.length, reads]).toEqual([14, 1])
  await clock.pass(6_000)
  expect(ends).toEqual([])
  const { value } = await one.outbox.items().next()
  expect(value).toMatchObject({ kind: 'end', failure: { message: 'No rows.' } })
  expect(heights.length).toBeGreaterThan(30)
})

test('feedHub: the last reader that leaves ends the read of rows, even if a page still follows the heights', async () => {
  const signals: (AbortSignal | undefined)[] = []
  const { clock, hub, watch, follower, join } = started(signal => {
    signals.push(signal)
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  })
  watch()
  const one = follower()
  join(one)
  await clock.pass(200)
  expect(signals.map(signal => signal?.aborted)).toEqual([false])
  expect(join(follower())).toBe(false)
  hub.leave(one)
  expect(signals.map(signal => signal?.aborted)).toEqual([true])
  await hub.whenIdle()
  expect(join(follower())).toBe(true)
})

test('feedHub: a height read before a page subscribed is not sent to it', async () => {
  const { clock, heights, watch, answers } = started(() => Promise.reject(new Error('no rows are read')))
  const old = Promise.withResolvers<Published>()
  answers.published = () => old.promise
  const leave = watch()
  await clock.pass(100)
  leave()
  watch()
  answers.published = async () => at(9)
  await clock.pass(450)
  old.resolve(at(5))
  await clock.pass(1_000)
  expect(heights).toEqual([9])
})
