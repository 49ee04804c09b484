import { expect, setDefaultTimeout, test } from 'bun:test'
import { acquireFreely } from '#actions/answer.ts'
import { feedHub } from '#actions/feed/hub.ts'
import type { Message } from '#actions/feed/message.ts'
import { openFeed } from '#actions/feed/open-feed.ts'
import { openOutbox } from '#actions/feed/outbox.ts'
import type { Store } from '#store/port.ts'
import { handClock } from '#test/support/clocks/hand-clock.ts'
import { patientClock } from '#test/support/clocks/patient-clock.ts'
import { fill, forkedChain } from '#test/support/nodes/forked.ts'
import { replayedNode } from '#test/support/nodes/replayed-node.ts'
import { type FeedEvent, feedEvents, feedMessages } from '#test/support/processes/feed-client.ts'
import { type Service, serviceOn } from '#test/support/processes/service.ts'
import { repairedEnd } from '#test/support/stores/audited.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { damageableElastic, damageableSqlite } from '#test/support/stores/damage.ts'
import { elasticsearchUrl } from '#test/support/stores/elasticsearch.ts'
import { loadFrom, temporarySqlite } from '#test/support/stores/loading.ts'
import { until } from '#test/support/wait.ts'

/**
 * A repair takes blocks back while feeds are open, while their readers are away, or before slow readers have read
 * what was sent: no reader keeps a row that is no longer on the chain.
 */

setDefaultTimeout(600_000)

/** The end of this part of the recorded chain has transfers. */
const HEIGHT = 750
const NEXT = 755
/** A trail names a block 16 below the last one, which is still on the chain. */
const RESET_SEQ = HEIGHT - 15

const replay = replayedNode(NEXT)

/** Takes the blocks back that are not the chain's. */
async function repair(store: Store, way: 'back' | 'closed' = 'back'): Promise<void> {
  expect((await repairedEnd(store, replay.node)).aligned.way).toBe(way)
}
/** Loads those of the chain, and more. */
async function loadOn(store: Store): Promise<void> {
  expect(await loadFrom(replay.url, store)).toBe(NEXT)
}

const LISTS = [
  'module=account&action=get-account-tx&account=admin',
  'module=contract&action=get-contract-tx&contract=token.iost',
  'module=token&action=get-token-tx&token=contribute',
  'module=base&action=get-block-list',
  'module=base&action=get-transaction-list',
]

/** The rows of a list from the first one, without the fields that depend on the length of the list. */
async function wholeList({ get }: Service, list: string): Promise<readonly string[]> {
  return (await (await get(`/api/?${list}&format=ndjson&sort=asc`)).text()).split('\n').slice(0, -2)
}

/** A reader that follows the reference: after `reset` it discards the later rows, which are sent again. */
function follower(service: Service, list: string) {
  let rows: string[] = []
  const resets: number[] = []
  const leaving = new AbortController()
  const connect = async (): Promise<void> => {
    const path = `/api/?${list}&start_seq=${rows.length + 1}&format=sse`
    const response = await service.get(path, {}, { signal: leaving.signal })
    if (response.status === 503) return await Bun.sleep(20)
    expect([list, response.status]).toEqual([list, 200])
    for await (const { id, event, data } of feedEvents(response.body))
      if (event === 'message') {
        expect([list, Number.parseInt(id ?? '', 10)]).toEqual([list, rows.length + 1])
        rows.push(data)
      } else if (event === 'reset') {
        const { seq } = JSON.parse(data)
        expect([list, Number.parseInt(id ?? '', 10), seq < rows.length]).toEqual([list, seq, true])
        resets.push(seq)
        rows = rows.slice(0, seq)
      } else {
        // The store was closed for longer than a feed may be silent, so the rows sent before may have changed.
        expect([list, event]).toEqual([list, 'end'])
        rows = []
      }
  }
  const done = (async () => {
    while (!leaving.signal.aborted) await connect().catch(error => leaving.signal.aborted || Promise.reject(error))
  })()
  return { list, rows: (): readonly string[] => rows, resets, done, stop: () => leaving.abort() }
}

/** By this clock no feed is silent for long, so that those of a readable store end only with the test. */
const UNHURRIED = { ...patientClock, elapsed: () => 0 }

// Three blocks are within those whose batches are kept separately.
for (const [name, open, orphans, way] of [
  ['SQLite', damageableSqlite, 3, 'back'] as const,
  ['SQLite', damageableSqlite, 20, 'closed'] as const,
  ...(elasticsearchUrl() === undefined ? [] : [['Elasticsearch', damageableElastic, 3, 'back'] as const]),
])
  test(`feeds on ${name}: a repair takes ${orphans} blocks back (${way}): readers of their rows get a reset and the rows of the chain`, async () => {
    const place = await open()
    await fill(place.store, await forkedChain(HEIGHT, orphans), HEIGHT + 5)
    const service = serviceOn(place.reopen(), way === 'back' ? { clock: UNHURRIED } : {})
    const before: (readonly string[])[] = []
    for (const list of LISTS) before.push(await wholeList(service, list))
    const readers = LISTS.map(list => follower(service, list))
    const ends = Promise.race(readers.map(({ done }) => done))
    await Promise.race([until(() => readers.every(({ rows }, at) => rows().length === before[at]?.length)), ends])
    await repair(place.store, way)
    await loadOn(place.store)
    for (const [at, reader] of readers.entries()) {
      const expected = await wholeList(service, reader.list)
      await Promise.race([until(() => reader.rows().length >= expected.length), ends])
      expect([reader.list, reader.rows()]).toEqual([reader.list, [...expected]])
      const common = before[at]?.findIndex((row, index) => row !== expected[index]) ?? -1
      // Readers of a row that was taken back got a `reset`, if the store was readable throughout.
      if (way === 'back' && common >= 0)
        expect([reader.list, reader.resets.some(seq => seq <= common)]).toEqual([reader.list, true])
    }
    for (const { stop, done } of readers) {
      stop()
      await done
    }
    await place.destroy()
  })

const BLOCKS = 'module=base&action=get-block-list&format=sse'
const SEARCHED = 'module=account&action=get-account-tx&account=admin,token.iost&format=sse'

/** The first `count` messages of a feed behind an id. `messages` collects those that have come so far. */
async function messagesOf(
  { get }: Service,
  list: string,
  last: string | undefined,
  count: number,
  messages: FeedEvent[] = [],
) {
  const { body } = await get(`/api/?${list}`, last === undefined ? {} : { 'last-event-id': last })
  for await (const message of feedMessages(body)) if (messages.push(message) === count) break
  return messages
}

/** A store whose last blocks are not the chain's. `repaired`: they were taken back, and the chain has grown. */
async function openForkedPlace() {
  const place = await damageableSqlite()
  await fill(place.store, await forkedChain(HEIGHT, 3), HEIGHT + 5)
  const repaired = async (): Promise<Service> => {
    await repair(place.store)
    await loadOn(place.store)
    return serviceOn(place.reopen())
  }
  return { service: serviceOn(place.reopen()), repaired, destroy: place.destroy }
}

test('feeds: the id of the last row sent at once names its branch, and a client that returns with it learns that rows were taken back', async () => {
  const { service, repaired, destroy } = await openForkedPlace()
  const [begin, ...events] = await messagesOf(service, `${BLOCKS}&start_seq=${HEIGHT}`, undefined, 3)
  // The id of any other row is its seq alone.
  expect(events.map(({ id, data }) => [id?.replace(/@.*/, '@'), data !== ''])).toEqual([
    [String(HEIGHT), true],
    [`${HEIGHT + 1}@`, true],
  ])
  const [now] = await messagesOf(service, BLOCKS, undefined, 1)
  const [early] = await messagesOf(service, BLOCKS, '100', 1)
  const after = await repaired()
  for (const query of ['', '&head=1'])
    for (const last of [events.at(-1)?.id, now?.id, begin?.id]) {
      const [first, reset] = await messagesOf(after, BLOCKS + query, last, 2)
      // The highest block named by the id that is still on the chain, and the number of its row.
      expect([first?.id, reset?.id, reset?.event]).toEqual([last, String(RESET_SEQ), 'reset'])
      expect(JSON.parse(reset?.data ?? '')).toMatchObject({ seq: RESET_SEQ, block_height: String(RESET_SEQ - 1) })
    }
  // None of its rows was taken back.
  const [, row] = await messagesOf(after, BLOCKS, early?.id, 2)
  expect([row?.id, row?.event]).toEqual(['101', 'message'])
  // An id without a trail does not identify a branch.
  const [, next] = await messagesOf(after, BLOCKS, String(HEIGHT + 1), 2)
  expect([next?.id, next?.event]).toEqual([String(HEIGHT + 2), 'message'])
  await destroy()
})

test('feeds: a feed of searched rows, begun at a block that is taken back, sends a reset and continues', async () => {
  const { service, repaired, destroy } = await openForkedPlace()
  const told = (events: readonly FeedEvent[]) =>
    events.map(({ event, data }) => `${event} ${data === '' ? '' : JSON.parse(data).block_height}`)
  const RESET = ['message ', `reset ${RESET_SEQ - 1}`]
  const [begin] = await messagesOf(service, SEARCHED, undefined, 1)
  const got: FeedEvent[] = []
  const open = messagesOf(service, SEARCHED, undefined, 2, got)
  await until(() => got.length > 0)
  const after = await repaired()
  expect(told(await open)).toEqual(RESET)
  const again = await messagesOf(after, SEARCHED, begin?.id, 2)
  expect([again[0]?.id, told(again)]).toEqual([begin?.id, RESET])
  // The feed continues with the rows after the remaining blocks.
  const rows = await wholeList(after, `${SEARCHED.replace('&format=sse', '')}&start_block=${RESET_SEQ}`)
  const [, ...events] = await messagesOf(after, SEARCHED, again[1]?.id, 1 + rows.length)
  expect(rows.length).toBeGreaterThan(0)
  expect(events.map(({ data }) => data)).toEqual([...rows])
  await destroy()
})

/** Readers of the block list of a store. The test advances the clock, and with it the looks at the store. */
function readersOf(store: Store) {
  const clock = handClock()
  const hub = feedHub(store, clock, undefined)
  const nothing = { get: () => undefined }
  const deps = { store, node: undefined, clock, prices: nothing, profiles: nothing }
  const open = async (start: number) => {
    const outbox = openOutbox<Message>()
    const query = Object.entries({ module: 'base', action: 'get-block-list', start_seq: String(start) })
    const options = { lang: 'en', format: 'envelope', compat: 'none', numbers: 'number' } as const
    const { signal } = new AbortController()
    const way = { signal, acquire: acquireFreely, more: async () => undefined, hub, outbox }
    const messages = (await openFeed(deps, { query, options, last: undefined }, way)).messages()
    let last: Message | undefined
    /** Takes only the next message. Returns whether there was one. */
    const take = async (): Promise<boolean> => {
      const { value, done } = await messages.next()
      if (value !== undefined) last = value
      return done !== true
    }
    const follow = async () => {
      while (await take());
    }
    return { last: () => last, take, follow: () => void follow() }
  }
  /** Lets readers take all available messages, then lets the hub look at the store. */
  const look = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns++) await clock.settle()
    await clock.pass(200)
    for (let turns = 0; turns < 20; turns++) await clock.settle()
  }
  return { open, look }
}

const ROWS = { kind: 'rows', last: HEIGHT + 1 }
const RESET = { kind: 'reset', seq: RESET_SEQ, height: RESET_SEQ - 1 }

test.each([
  ['has read its page', undefined],
  ['has not joined the others', HEIGHT],
  ['has joined the others', HEIGHT - 1],
])(
  'feeds: a slow reader that %s learns that rows were taken back, however many were added since',
  async (_, opened) => {
    const { store, destroy } = await temporarySqlite()
    const readers = readersOf(store)
    const blocks = await forkedChain(HEIGHT, 3)
    const alone = blocks.slice(HEIGHT - 12).map(block => [block])
    let fast: Awaited<ReturnType<typeof readers.open>> | undefined
    let slow: typeof fast
    let later: Promise<unknown> | undefined
    await commitRuns(store, [blocks.slice(0, 50), blocks.slice(50, HEIGHT - 12), ...alone], {
      lib: HEIGHT + 5,
      onCommitted: async height => {
        if (height < HEIGHT - 12) return
        fast ??= await readers.open(1)
        if (height === HEIGHT - 12) fast.follow()
        if (height === opened) {
          slow = await readers.open(height + 1)
          await slow.take()
          if (opened !== HEIGHT) later = slow.take()
        }
        await readers.look()
      },
    })
    await later
    expect((slow ?? fast)?.last()).toMatchObject(ROWS)
    await repair(store)
    // Without others, nobody looks at the store meanwhile.
    if (slow !== undefined) {
      await readers.look()
      expect(fast?.last()).toMatchObject(RESET)
      if (opened === HEIGHT) slow.follow()
      await readers.look()
    }
    await loadOn(store)
    await readers.look()
    slow?.follow()
    await readers.look()
    expect((slow ?? fast)?.last()).toMatchObject(RESET)
    await destroy()
  },
)
