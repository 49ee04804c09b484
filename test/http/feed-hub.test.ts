import { expect, test } from 'bun:test'
import { type FeedFollower, feedHub } from '#actions/feed/hub.ts'
import type { Message } from '#actions/feed/message.ts'
import { openOutbox } from '#actions/feed/outbox.ts'
import { Failure } from '#failure/failure.ts'
import type { Published, Store } from '#store/port.ts'
import { handClock } from '../support/clocks/hand-clock.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { serviceOn } from '../support/processes/service.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { temporarySqlite } from '../support/stores/loading.ts'

/** Readers of rows and readers of heights in one thread do not disturb each other, and each gets the rows that it lacks. */

const at = (height: number) => ({ height, hash: `hash ${height}` }) as Published

/** A hub over a store whose rows are read by `read`. Its height increases by one with each look. */
function started(read: (signal: AbortSignal | undefined) => Promise<never>) {
  const clock = handClock()
  const heights: number[] = []
  const ends: string[] = []
  let height = 0
  const answers = { published: async () => at(++height) }
  const hub = feedHub(
    { published: () => answers.published(), read: (_, { signal } = {}) => read(signal) },
    clock,
    undefined,
  )
  const watch = () =>
    hub.watch({
      published: ({ height }) => heights.push(height),
      beat: () => undefined,
      end: ({ message }) => ends.push(message),
    })
  const rows = async () => [] as never
  const options = { numbers: 'number' } as const
  const list = { name: 'blocks', followed: { kind: 'blocks' }, isHead: false, rows, options } as const
  const follower = (): FeedFollower => ({ list, next: 2, hasPacked: false, outbox: openOutbox<Message>() })
  const join = (one: FeedFollower): boolean => hub.join(one, { end: at(0), count: 1 })
  return { clock, hub, heights, ends, watch, follower, join, answers }
}

test('feedHub: a store that never returns its height ends the live pages after five seconds', async () => {
  const { clock, ends, watch, answers } = started(() => Promise.reject(new Error('No rows are read.')))
  answers.published = () => new Promise(() => undefined)
  watch()
  await clock.pass(4_900)
  expect(ends).toEqual([])
  await clock.pass(1_000)
  expect(ends).toEqual(['The store did not return its height within 5000 ms.'])
})

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

const LIST = '/api/base/get-block-list?format=sse'

/** The text of a feed so far. */
function collected(response: Response): () => string {
  const decoder = new TextDecoder()
  let text = ''
  void (async () => {
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true })
  })()
  return () => text
}

test('feeds: the store is read once per height for all readers, and every 15 seconds a comment names the height', async () => {
  const { store, destroy } = await temporarySqlite()
  const clock = handClock()
  let reads = 0
  const counted: Store = {
    ...store,
    read: (...asked) => {
      reads += 1
      return store.read(...asked)
    },
  }
  const service = serviceOn(counted, { clock })
  const texts: (() => string)[] = []
  const open = async (): Promise<void> => {
    for (let at = 0; at < 30; at += 1) {
      // Two forms of the same list. Each is serialized once.
      const query = at % 2 === 0 ? '' : '&numbers=string'
      texts.push(collected(await service.ask(`${LIST}${query}&apikey=${service.key}`)))
    }
    // After each reader has read its list, all of them wait for new rows.
    while (texts.some(text => !text().includes('id: '))) await clock.settle()
    for (let last = 0; last !== reads || reads < 60; await Bun.sleep(1)) {
      last = reads
      await clock.pass(100)
    }
  }
  const until = async (mark: RegExp): Promise<void> => {
    while (texts.some(text => !mark.test(text()))) {
      await clock.pass(10)
      await Bun.sleep(1)
    }
  }
  const blocks = await recordedBlocks()
  const runs = [blocks.slice(0, 21), ...blocks.slice(21, 25).map(block => [block])]
  await commitRuns(store, runs, {
    lib: 24,
    onCommitted: async height => {
      if (height === 20) return open()
      const before = reads
      // The id of the last row that is sent at once has a mark of the chain behind its number.
      await until(new RegExp(`^id: ${height + 1}@`, 'm'))
      expect([height, reads - before]).toEqual([height, 1])
    },
  })
  const before = reads
  await clock.pass(14_000)
  expect(texts.filter(text => text().includes(': block 24\n'))).toEqual([])
  await until(/^: block 24\n/m)
  expect(reads).toBe(before)
  await destroy()
})
