import { expect, test } from 'bun:test'
import { type FeedFollower, feedHub } from '#actions/feed/hub.ts'
import type { Message } from '#actions/feed/message.ts'
import { openOutbox } from '#actions/feed/outbox.ts'
import { Failure } from '#failure/failure.ts'
import type { HeadState } from '#head/head-state.ts'
import type { Published, Store, View } from '#store/port.ts'
import { handClock } from '../support/clocks/hand-clock.ts'

/** Readers of rows and readers of heights in one thread do not disturb each other, and each gets the rows that it lacks. */

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

/** Blocks of branches: `a5` is block 5 of branch a, whose parent is the named one. */
const docOf = (name: string, parent: string) => ({ height: Number(name.slice(1)), hash: name, parent_hash: parent })
const followed = (...names: readonly string[]): HeadState => ({
  status: 'followed',
  tip: docOf(names.at(-1) ?? '', ''),
  lib: 0,
  blocks: names.slice(1).map((name, at) => ({ doc: docOf(name, names[at] ?? '') }) as never),
})

/** A hub of the list of blocks; `chain`: the published blocks from block 1 on. */
function withHead() {
  const clock = handClock()
  const now = { chain: ['a1'], head: { status: 'away' } as HeadState }
  const end = () => docOf(now.chain.at(-1) ?? '', '') as unknown as Published
  const view = () => ({
    at: end(),
    get: async (_: unknown, id: string) => docs([id])[0],
    getMany: async (_: unknown, ids: readonly string[]) => docs(ids),
  })
  const docs = (ids: readonly string[]) => ids.map(id => now.chain[Number(id) - 1]).map(name => name && docOf(name, ''))
  const store = {
    published: async () => end(),
    read: <T>(work: (view: View) => Promise<T>) => work(view() as unknown as View),
  }
  const hub = feedHub(store, clock, { current: () => now.head })
  const rows = async (_: View, all: readonly unknown[]) => ({
    rows: all.map(row => (row as { readonly doc: { readonly hash: string } }).doc.hash),
  })
  const join = () => {
    const outbox = openOutbox<Message>()
    const list = { name: '', followed: { kind: 'blocks' }, isHead: true, rows, options: { numbers: 'number' } } as const
    const count = now.chain.length + 1
    expect(hub.join({ list, outbox, next: count + 1, hasPacked: false }, { end: end(), count })).toBe(true)
    const events: string[] = []
    void (async () => {
      for await (const message of outbox.items())
        if (message.kind === 'rows')
          for (const event of new TextDecoder().decode(message.bytes).trimEnd().split('\n\n'))
            events.push(event.replaceAll(/id: .*|event: |data: |\n|"/g, ''))
    })()
    return events
  }
  const look = async (change: Partial<typeof now>): Promise<void> => {
    Object.assign(now, change)
    await clock.pass(200)
  }
  return { join, look }
}

test('feedHub: packed rows that a branch or an irreversible block contradicts are dropped, and no others', async () => {
  const { join, look } = withHead()
  const one = join()
  await look({ head: followed('a1', 'a2', 'a3', 'a4', 'a5') })
  expect(one.splice(0)).toEqual(['packeda2', 'packeda3', 'packeda4', 'packeda5'])
  await look({ head: followed('a1', 'a2', 'a3', 'b4') })
  expect(one.splice(0)).toEqual(['dropped{from_block:4}', 'packedb4'])
  // The branch is unknown, and the new irreversible block is of it.
  await look({ head: { status: 'away' }, chain: ['a1', 'a2'] })
  const two = join()
  await look({})
  expect([one.splice(0), two]).toEqual([['a2'], []])
  // The new irreversible block is of another branch, so the one above its competitor is, too.
  await look({ chain: ['a1', 'a2', 'c3'] })
  expect([one.splice(0), two.splice(0)]).toEqual([['dropped{from_block:3}', 'c3'], ['c3']])
  await look({ head: followed('c3', 'c4', 'c5') })
  expect([one.splice(0), two.splice(0)]).toEqual([
    ['packedc4', 'packedc5'],
    ['packedc4', 'packedc5'],
  ])
  // A reader that joins later gets all packed rows, the others get the new one.
  const three = join()
  await look({ head: followed('c3', 'c4', 'c5', 'c6') })
  expect([one, three]).toEqual([['packedc6'], ['packedc4', 'packedc5', 'packedc6']])
})
