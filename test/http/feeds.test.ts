import { expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type FeedFollower, feedHub } from '#actions/feed/hub.ts'
import type { Message } from '#actions/feed/message.ts'
import { openOutbox } from '#actions/feed/outbox.ts'
import { Failure } from '#failure/failure.ts'
import type { Published, Store } from '#store/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { collectEvents, type FeedEvent, feedEvents } from '#test/support/processes/feed-client.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { seeded } from '#test/support/seeded.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { until } from '#test/support/wait.ts'

/**
 * Feeds during a load: each row comes once and in order, over any interruption, to readers of any speed, and one read of
 * the store serves all of them.
 */

setDefaultTimeout(600_000)

const LISTS = [
  'module=account&action=get-account-tx&account=busyhub',
  'module=account&action=get-account-tx&account=busyhub&token=iost',
  'module=account&action=get-account-tx&account=admin&numbers=string',
  'module=account&action=get-account-tx&account=admin&func_name=auth.iost/signUp',
  'module=account&action=get-account-tx&account=tokenboss&failed=1',
  'module=account&action=get-vote-history&account=admin',
  'module=contract&action=get-contract-tx&contract=token.iost',
  'module=contract&action=get-contract-tx&contract=token.iost&action_name=transfer',
  'module=token&action=get-token-tx&token=iost&compat=iostabc',
  'module=base&action=get-block-list&numbers=string',
  'module=base&action=get-transaction-list',
]

/** The last block stored at the begin. Accounts and transactions of the recorded chain begin here. */
const FROM = 760
const blocks = await recordedBlocks()

/** The blocks in runs, each as long as `draw` says, after a run up to FROM. */
function cutRuns(to: number, draw: () => number) {
  const runs = [blocks.slice(0, FROM + 1)]
  for (let at = FROM + 1, length = draw(); at <= to; at += length, length = draw())
    runs.push(blocks.slice(at, Math.min(at + length, to + 1)))
  return runs
}

/** A client that reads a list from its begin, and reconnects after random events. */
function reader({ get }: Service, list: string, random: () => number) {
  const rows: (readonly [seq: number, text: string])[] = []
  const leaving = new AbortController()
  const { signal } = leaving
  const follow = async (): Promise<void> => {
    const last = rows.at(-1)?.[0] ?? 0
    const byHeader = random() < 0.5
    const headers = byHeader && last > 0 ? { 'last-event-id': String(last) } : {}
    const response = await get(`/api/?${list}&start_seq=${byHeader ? 1 : last + 1}&format=sse`, headers, { signal })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    let left = 1 + Math.floor(random() * 400)
    for await (const { id, event, data } of feedEvents(response.body)) {
      expect(event).toBe('message')
      rows.push([Number.parseInt(id ?? '', 10), data])
      left -= 1
      if (left === 0) return
    }
  }
  const done = (async () => {
    // After the client leaves, the body ends with an error.
    while (!signal.aborted) await follow().catch(error => signal.aborted || Promise.reject(error))
  })()
  return { list, rows, done, stop: () => leaving.abort() }
}

/** Readers of all lists, each interrupted many times while blocks are loaded. */
async function expectRows(store: Store, seed: number): Promise<void> {
  const [random, lib] = [seeded(seed), 790]
  const service = serviceOn(store)
  const readers: ReturnType<typeof reader>[] = []
  await commitRuns(
    store,
    cutRuns(lib, () => 1 + Math.floor(random() * 4)),
    {
      lib,
      onCommitted: async height => {
        if (readers.length === 0) for (const list of LISTS) readers.push(reader(service, list, random))
        await until(() => readers.every(({ list, rows }) => !list.includes('block-list') || rows.length > height))
      },
    },
  )
  for (const { list, rows, stop, done } of readers) {
    const whole = await (await service.get(`/api/?${list}&format=ndjson&sort=asc`)).text()
    const expected = whole.split('\n').slice(0, -2)
    expect(expected.length).toBeGreaterThan(0)
    await until(() => rows.length >= expected.length)
    stop()
    await done
    expect(rows).toEqual(expected.map((text, at) => [at + 1, text]))
  }
}

test.each([1, 2])('feeds on SQLite: each row comes once and in order, over reconnections (seed %d)', async seed => {
  const { store, destroy } = await temporarySqlite()
  await expectRows(store, seed)
  await destroy()
})

test.skipIf(elasticsearchUrl() === undefined)('feeds on Elasticsearch: the same', async () => {
  const { store, destroy } = openTestElastic()
  await expectRows(store, 3)
  await destroy()
})

/** Each two batches of 40 blocks have more rows than may wait for a reader. */
const FAST_LIST = '/api/contract/get-contract-tx?contract=token.iost&numbers=string&format=sse'
const folder = testFolder()

/** A Unix socket, whose buffers are smaller than the data. TCP buffers grow to several megabytes. */
async function openSlow(path: string, key: string) {
  const socket = connect(path)
  const parts: Buffer[] = []
  const begun = Promise.withResolvers<void>()
  const closed = new Promise<void>(done => socket.once('close', () => done()))
  socket.on('data', (bytes: Buffer) => {
    parts.push(bytes)
    begun.resolve()
  })
  socket.write(`GET ${FAST_LIST}&apikey=${key} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  await begun.promise
  socket.pause()
  return async (): Promise<readonly FeedEvent[]> => {
    socket.resume()
    await closed
    const bytes = Buffer.concat(parts)
    return Array.fromAsync(feedEvents(new Blob([joinChunks(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4))]).stream()))
  }
}

/** The content of a chunked body, which must be complete. */
function joinChunks(body: Buffer): Buffer<ArrayBuffer> {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; ) {
    const line = body.indexOf('\r\n', at)
    const length = Number.parseInt(body.toString('latin1', at, line), 16)
    if (length === 0) return Buffer.concat(parts)
    parts.push(body.subarray(line + 2, line + 2 + length))
    at = line + 2 + length + 2
  }
  throw new Error('The body broke off.')
}

test('feeds: a reader too slow for the waiting rows gets an id to continue from, and continues there', async () => {
  const path = join(folder, 'socket')
  const { store, destroy } = await temporarySqlite()
  const { app, get, key } = serviceOn(store)
  app.listen({ unix: path })
  let readSlow: Awaited<ReturnType<typeof openSlow>> | undefined
  const brisk: FeedEvent[] = []
  const leaving = new AbortController()
  const { signal } = leaving
  let reading: Promise<unknown> | undefined
  await commitRuns(
    store,
    cutRuns(1_200, () => 40),
    {
      lib: 1_200,
      onCommitted: async height => {
        readSlow ??= await openSlow(path, key)
        reading ??= collectEvents((await get(FAST_LIST, {}, { signal })).body, signal, brisk)
        if (height === FROM) return
        // Each height is sent to all readers at once.
        await until(() => Number(JSON.parse(brisk.at(-1)?.data ?? '{"block":0}').block) >= height - 5)
      },
    },
  )
  const events = (await readSlow?.()) ?? []
  const rows = events.slice(0, -1)
  const { event, data = '' } = events.at(-1) ?? {}
  const last = rows.at(-1)?.id ?? ''
  expect([event, JSON.parse(data)]).toEqual([
    'cut',
    {
      // The id of the last row that is sent at once has a mark of the chain behind its number.
      seq: Number.parseInt(last, 10),
      message: expect.stringMatching(/^Rows came faster .* Continue with Last-Event-ID \d+@\d+\.\w+\.$/),
    },
  ])
  expect(rows).toEqual(brisk.slice(0, rows.length))
  const { value } = await feedEvents((await get(FAST_LIST, { 'last-event-id': last }, { signal })).body).next()
  expect(value).toEqual(brisk[rows.length] as FeedEvent)
  leaving.abort()
  await reading
  await app.stop(true)
  await destroy()
})

const at = (height: number) => ({ height, hash: `hash ${height}` }) as Published

/** A hub over a store whose rows are read by `read`. Its height increases by one with each look. */
function openHub(read: (signal: AbortSignal | undefined) => Promise<never>) {
  const clock = handClock()
  const heights: number[] = []
  const ends: string[] = []
  let height = 0
  const answers = { published: async () => at(++height) }
  const store = {
    published: () => answers.published(),
    read: (_: unknown, { signal }: { signal?: AbortSignal } = {}) => read(signal),
  }
  const hub = feedHub(store, clock, undefined)
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
const readNothing = () => Promise.reject(new Error('No rows are read.'))

test('feedHub: a store that never returns its height ends the live pages after five seconds', async () => {
  const { clock, ends, watch, answers } = openHub(readNothing)
  answers.published = () => new Promise(() => undefined)
  watch()
  await clock.pass(4_900)
  expect(ends).toEqual([])
  await clock.pass(1_000)
  expect(ends).toEqual(['The store did not return its height within 5000 ms.'])
})

test('feedHub: slow or stuck reads of rows delay no height and end no live page', async () => {
  let reads = 0
  const { clock, heights, ends, watch, follower, join } = openHub(signal => {
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
  const { value } = await one.outbox.items().next()
  expect([ends, value]).toMatchObject([[], { kind: 'end', failure: { message: 'No rows.' } }])
  expect(heights.length).toBeGreaterThan(30)
})

test('feedHub: the last reader that leaves ends the read of rows, even if a page still follows the heights', async () => {
  const signals: (AbortSignal | undefined)[] = []
  const { clock, hub, watch, follower, join } = openHub(signal => {
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
  const { clock, heights, watch, answers } = openHub(readNothing)
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

/** The text of a feed so far. */
function collectText({ body }: Response): () => string {
  let text = ''
  void (async () => {
    for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) text += part
  })()
  return () => text
}

test('feeds: the store is read once per height for all readers, and every 15 seconds a comment names the height', async () => {
  const { store, destroy } = await temporarySqlite()
  const clock = handClock()
  let reads = 0
  const read: Store['read'] = (...asked) => {
    reads += 1
    return store.read(...asked)
  }
  const { get } = serviceOn({ ...store, read }, { clock })
  const texts: (() => string)[] = []
  const open = async (): Promise<void> => {
    // Two forms of the same list. Each is serialized once.
    for (let at = 0; at < 30; at += 1)
      texts.push(collectText(await get(`/api/base/get-block-list?format=sse${at % 2 === 0 ? '' : '&numbers=string'}`)))
    // After each reader has read its list, all of them wait for new rows.
    while (texts.some(text => !text().includes('id: '))) await clock.settle()
    for (let last = 0; last !== reads || reads < 60; await Bun.sleep(1)) {
      last = reads
      await clock.pass(100)
    }
  }
  const passUntil = async (mark: RegExp): Promise<void> => {
    while (texts.some(text => !mark.test(text()))) {
      await clock.pass(10)
      await Bun.sleep(1)
    }
  }
  await commitRuns(store, [blocks.slice(0, 21), ...blocks.slice(21, 25).map(block => [block])], {
    lib: 24,
    onCommitted: async height => {
      if (height === 20) return open()
      const before = reads
      await passUntil(new RegExp(`^id: ${height + 1}@`, 'm'))
      expect([height, reads - before]).toEqual([height, 1])
    },
  })
  const before = reads
  await clock.pass(14_000)
  expect(texts.filter(text => text().includes(': block 24\n'))).toEqual([])
  await passUntil(/^: block 24\n/m)
  expect(reads).toBe(before)
  await destroy()
})
