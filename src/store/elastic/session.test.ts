import { expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import type { Published, View } from '#store/port.ts'
import { failureOf, kindOf } from '#store/suite/harness.ts'
import type { PublishedMeta } from './meta.ts'
import { Newer, openSessions } from './session.ts'

const metaAt = (height: number): PublishedMeta => ({
  end: { height, hash: `h${height}`, time: 0n, lib: height },
  batch: `b${height}`,
  partitions: [0],
})

/** Sessions over a script of published heights: each look takes the next one, the last one stays. */
const scripted = (heights: readonly number[]) => {
  let looks = 0
  const waits: number[] = []
  let now = 0
  const read = openSessions({
    readPublished: async () => {
      const height = heights[Math.min(looks++, heights.length - 1)]
      return height === undefined || height < 0 ? undefined : metaAt(height)
    },
    // Views are told apart by their height alone.
    viewOf: ({ end }) => ({ at: end }) as View,
    sleep: async ms => {
      waits.push(ms)
      now += ms
    },
    now: () => now,
    patienceMs: 100,
    nothing: () => new Failure('unavailable', 'nothing'),
  })
  return { read, looks: () => looks, waits }
}
const height = async ({ at }: { at: Published }) => at.height

test('read: the first looks, then works; the next works while it looks', async () => {
  const { read, looks } = scripted([4])
  expect(await read(height)).toBe(4)
  expect(looks()).toBe(1)
  expect(await read(height)).toBe(4)
  expect(looks()).toBe(2)
})

test('read: work done for a height that is not published any more does not count', async () => {
  const { read } = scripted([4, 5])
  await read(height)
  const worked: number[] = []
  const work = async ({ at }: View) => {
    worked.push(at.height)
    // Such as "not found", said of a height that has passed.
    if (at.height === 4) throw new Failure('not_found', 'not yet')
    return at.height
  }
  expect(await read(work)).toBe(5)
  expect(worked).toEqual([4, 5])
})

test('read: an answer of a height that was just looked up counts though the height has moved', async () => {
  const { read, looks } = scripted([4, 5, 6])
  expect(await read(height)).toBe(4)
  expect(await read(height)).toBe(5)
  expect(looks()).toBe(2)
})

test('read: what the work throws goes up when its height was right', async () => {
  const { read } = scripted([4])
  const thrown = new RangeError('mine')
  const fail = () => read(() => Promise.reject(thrown)).catch((error: unknown) => error)
  expect(await fail()).toBe(thrown)
  expect(await fail()).toBe(thrown)
})

test('read: a copy that lags behind the last height is asked again, never believed', async () => {
  const { read, looks, waits } = scripted([4, 5, 4, 4, 5])
  await read(height)
  expect(await read(height)).toBe(5)
  expect(await read(height)).toBe(5)
  expect([looks(), waits]).toEqual([5, [2, 4]])
})

test('read: a height that lastingly is lower is that of a store made anew', async () => {
  const { read } = scripted([4, 3])
  await read(height)
  expect(await read(height)).toBe(3)
  expect(await read(height)).toBe(3)
})

test('read: something newer: waits, longer each time, until it is published', async () => {
  const { read, waits } = scripted([4, 4, 4, 5])
  const work = async ({ at }: View) => {
    if (at.height === 4) throw new Newer()
    return at.height
  }
  expect(await read(work)).toBe(5)
  expect(waits).toEqual([2, 4, 8])
})

test('read: newer for ever is unavailable, with a signal that aborts a deadline', async () => {
  const work = () => Promise.reject(new Newer())
  const lasting = scripted([4])
  const refused = await failureOf(lasting.read(work))
  expect(refused.kind).toBe('unavailable')
  expect(refused.help).toContain('start it again')
  const stop = new AbortController()
  const abort = async () => {
    stop.abort()
    throw new Newer()
  }
  expect(await kindOf(scripted([4]).read(abort, stop.signal))).toBe('deadline')
})

test('read: nothing published', async () => {
  expect((await failureOf(scripted([-1]).read(height))).message).toBe('nothing')
})
