import { expect, test } from 'bun:test'
import type { Reader } from '#actions/feed/groups.ts'
import { feedHub } from '#actions/feed/hub.ts'
import { openMailbox } from '#actions/feed/mailbox.ts'
import { Failure } from '#failure/failure.ts'
import type { Published, Store } from '#store/port.ts'
import { handClock } from '../support/clocks/hand-clock.ts'

/** Those who follow rows and those who follow heights in one thread do not disturb each other. */

const at = (height: number) => ({ height, hash: `hash ${height}` }) as Published

/** A hub over a store whose rows are read as `read` says; its height grows by one with each look. */
const started = (read: (signal: AbortSignal | undefined) => Promise<never>) => {
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
  const reader = (): Reader => ({
    followed: { kind: 'blocks' },
    shown: { name: 'blocks', isHead: false, rows: async () => [] as never, write: {} as never },
    end: at(0),
    count: 1,
    next: 2,
    place: undefined,
    mailbox: openMailbox(),
  })
  return { clock, hub, heights, ends, watch, reader, answers }
}

test('feedHub: rows that are read slowly, or not at all, hold no height back and end no live page', async () => {
  let reads = 0
  const { clock, hub, heights, ends, watch, reader } = started(signal => {
    reads += 1
    return new Promise((_, reject) =>
      signal?.addEventListener('abort', () => reject(new Failure('unavailable', 'No rows.'))),
    )
  })
  watch()
  const follower = reader()
  expect(hub.join(follower)).toBe(true)
  await clock.pass(4_000)
  expect([heights.length, reads]).toEqual([14, 1])
  await clock.pass(6_000)
  expect(ends).toEqual([])
  expect(await follower.mailbox.take()).toMatchObject({ kind: 'end', failure: { message: 'No rows.' } })
  expect(heights.length).toBeGreaterThan(30)
})

test('feedHub: the last reader who leaves ends what is read, though a page still follows the heights', async () => {
  const signals: (AbortSignal | undefined)[] = []
  const { clock, hub, watch, reader } = started(signal => {
    signals.push(signal)
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  })
  watch()
  const follower = reader()
  hub.join(follower)
  await clock.pass(200)
  expect(signals.map(signal => signal?.aborted)).toEqual([false])
  expect(hub.join(reader())).toBe(false)
  hub.leave(follower)
  expect(signals.map(signal => signal?.aborted)).toEqual([true])
  await hub.settled()
  expect(hub.join(reader())).toBe(true)
})

test('feedHub: an answer that was asked for before a page came is not told to it', async () => {
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
