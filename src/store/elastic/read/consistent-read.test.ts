import { expect, test } from 'bun:test'
import { Failure } from '#failure/failure.ts'
import type { Published, View } from '#store/port.ts'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { MISSING_INDEX } from '../client/request.ts'
import type { PublishedMeta } from '../schema/checkpoint.ts'
import { EDITION } from '../schema/mappings.ts'
import { NewerData, openReads, READ_SERVES_MS } from './consistent-read.ts'

const metaAt = (height: number): PublishedMeta => ({
  end: { height, hash: `h${height}`, time: 0n, lib: height },
  batch: `b${height}`,
  partitions: [0],
  generations: {},
  edition: EDITION,
})

/** The height alone distinguishes the views. */
const open = ({ end }: PublishedMeta) => ({ view: { at: end } as View, foundNothing: false })
/** Options of an undamaged store in which no time passes. */
const STILL = {
  open,
  whole: { require: async () => {}, requireNow: async () => {} },
  sleep: async () => {},
  elapsed: () => 0,
  timeoutMs: 100,
  nothing: () => new Failure('unavailable', 'nothing'),
  underRepair: () => new Failure('unavailable', 'under repair'),
}

/** Sessions over a script of published heights: each read takes the next one; the last one repeats. */
function scripted(heights: readonly number[]) {
  let looks = 0
  const waits: number[] = []
  let now = 0
  const { read, expire } = openReads({
    readPublished: async () => {
      const height = heights[Math.min(looks++, heights.length - 1)]
      return height === undefined || height < 0 ? undefined : metaAt(height)
    },
    ...STILL,
    sleep: async ms => {
      waits.push(ms)
      now += ms
    },
    elapsed: () => now,
  })
  const pass = (ms: number) => {
    now += ms
  }
  return { read, expire, looks: () => looks, waits, pass }
}
const height = async ({ at }: { at: Published }) => at.height

test('read: one read of the height serves all callers of a short time, and none later; the publishing process sees its own at once', async () => {
  const { read, expire, looks, pass } = scripted([4, 5, 6])
  expect(await Promise.all([read(height), read(height), read(height)])).toEqual([4, 4, 4])
  pass(READ_SERVES_MS - 1)
  expect(await read(height)).toBe(4)
  expect(looks()).toBe(1)
  pass(1)
  expect(await Promise.all([read(height), read(height), read(height)])).toEqual([5, 5, 5])
  expect(looks()).toBe(2)
  expire()
  expect(await read(height)).toBe(6)
})

test('read: a failed read of the height, or the time-out of its caller, is not shared', async () => {
  let looks = 0
  const { read } = openReads({
    readPublished: signal => {
      looks += 1
      if (looks > 1) return Promise.resolve(metaAt(4))
      const { promise, reject } = Promise.withResolvers<never>()
      signal?.addEventListener('abort', () => reject(new Failure('deadline', 'mine')))
      return promise
    },
    ...STILL,
  })
  const [stop, stopToo] = [new AbortController(), new AbortController()]
  const first = kindOf(read(height, stop))
  while (looks === 0) await Promise.resolve()
  const second = kindOf(read(height, stopToo))
  const third = read(height)
  stopToo.abort()
  expect(await second).toBe('deadline')
  expect(looks).toBe(1)
  stop.abort()
  expect(await first).toBe('deadline')
  expect(await third).toBe(4)
})

test('read: a height whose repair another caller has seen meanwhile is refused although the earlier height was read just now', async () => {
  const published = [metaAt(4), { ...metaAt(5), mending: true as const }]
  const { read, fresh, readUnrepaired } = openReads({
    readPublished: async () => (published.length > 1 ? published.shift() : published[0]),
    ...STILL,
  })
  expect(await read(height)).toBe(4)
  expect((await failureOf(fresh(undefined))).message).toBe('under repair')
  expect((await failureOf(read(height))).message).toBe('under repair')
  readUnrepaired()
  expect(await read(height)).toBe(5)
})

test('read: a batch that is republished with its inventory is read with the new one', async () => {
  const inventory = { batch: 'b4', indices: {}, last: { 'iost-lists-0': ['a', 5] as const } }
  const published: PublishedMeta[] = [metaAt(4), metaAt(4), { ...metaAt(4), inventory }]
  const opened: PublishedMeta[] = []
  const { read, expire } = openReads({
    readPublished: async () => (published.length > 1 ? published.shift() : published[0]),
    ...STILL,
    open: at => {
      opened.push(at)
      return open(at)
    },
  })
  for (let n = 0; n < 4; n++) {
    await read(height)
    expire()
  }
  expect(opened.map(at => at.inventory?.batch)).toEqual([undefined, undefined, undefined, 'b4'])
  expect(opened[1]).toBe(opened[0] as PublishedMeta)
})

test('read: the result of work at a height that is no longer published is dropped; of one read just now it is used', async () => {
  const { read, expire, looks } = scripted([4, 5, 6])
  await read(height)
  expire()
  const worked: number[] = []
  const work = async ({ at }: View) => {
    worked.push(at.height)
    // An answer such as "not found" applies to a height that has passed.
    if (at.height === 4) throw new Failure('not_found', 'not yet')
    return at.height
  }
  expect(await read(work)).toBe(5)
  expect(worked).toEqual([4, 5])
  expect(looks()).toBe(2)
})

test('read: a copy behind the last known height is read again and never used; a height that stays lower belongs to a recreated store', async () => {
  const { read, expire, looks, waits } = scripted([4, 5, 4, 4, 5])
  await read(height)
  expire()
  expect(await read(height)).toBe(5)
  expire()
  expect(await read(height)).toBe(5)
  expect([looks(), waits]).toEqual([5, [2, 4]])
  const recreated = scripted([4, 3])
  await recreated.read(height)
  recreated.expire()
  expect([await recreated.read(height), await recreated.read(height)]).toEqual([3, 3])
})

test('read: documents that stay newer are unavailable, or a deadline after an abort', async () => {
  const work = () => Promise.reject(new NewerData())
  const lasting = scripted([4])
  const refused = await failureOf(lasting.read(work))
  expect(refused.kind).toBe('unavailable')
  expect(refused.help).toContain('Start it again')
  const stop = new AbortController()
  const abort = async () => {
    stop.abort()
    throw new NewerData()
  }
  expect(await kindOf(scripted([4]).read(abort, stop))).toBe('deadline')
})

test('read: a missing index makes the read start again only after another publication', async () => {
  const gone = new Failure('unavailable', 'gone', { details: { type: MISSING_INDEX } })
  const removed = ({ at }: View) => (at.height === 4 ? Promise.reject(gone) : Promise.resolve(at.height))
  expect(await scripted([4, 5]).read(removed)).toBe(5)
  expect(await failureOf(scripted([4]).read(removed))).toBe(gone)
})
