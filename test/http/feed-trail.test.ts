import { expect, setDefaultTimeout, test } from 'bun:test'
import { acquireFreely } from '#actions/answer.ts'
import { feedHub } from '#actions/feed/hub.ts'
import type { Message } from '#actions/feed/message.ts'
import { openFeed } from '#actions/feed/open-feed.ts'
import { openOutbox } from '#actions/feed/outbox.ts'
import type { Store } from '#store/port.ts'
import { handClock } from '../support/clocks/hand-clock.ts'
import { forkedChain } from '../support/nodes/forked.ts'
import { replayedNode } from '../support/nodes/replayed-node.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { loadFrom, temporarySqlite } from '../support/stores/loading.ts'
import { repairedEnd } from '../support/stores/repaired-end.ts'

/**
 * Readers that learn late that some of their rows were taken back, when the chain again has more rows than they have.
 */

setDefaultTimeout(600_000)

const HEIGHT = 700
const NEXT = 720
/** The last block that the forked chain shares with the recorded one. */
const COMMON = 697

const replay = replayedNode(NEXT)

type Reader = {
  /** The last message. */
  readonly last: () => Message | undefined
  /** Takes only the next message. */
  readonly take: () => Promise<void>
  /** Takes all messages. */
  readonly follow: () => void
  readonly leave: () => Promise<void>
}

/** Readers of the block list of a store. The test advances the clock, and with it the looks at the store. */
function readersOf(store: Store) {
  const clock = handClock()
  const hub = feedHub(store, clock, undefined)
  const deps = { store, node: undefined, clock, ...NOTHING }
  const open = async (start: number): Promise<Reader> => {
    const outbox = openOutbox<Message>()
    const query: [string, string][] = [
      ['module', 'base'],
      ['action', 'get-block-list'],
      ['start_seq', String(start)],
    ]
    const options = { lang: 'en', format: 'envelope', compat: 'none', numbers: 'number' } as const
    const { signal } = new AbortController()
    const feed = await openFeed(
      deps,
      { query, options, last: undefined },
      { signal, acquire: acquireFreely, more: async () => undefined, hub, outbox },
    )
    const messages = feed.messages()
    let last: Message | undefined
    const take = async (): Promise<boolean> => {
      const { value, done } = await messages.next()
      if (value !== undefined) last = value
      return done !== true
    }
    const follow = async (): Promise<void> => {
      while (await take());
    }
    return {
      last: () => last,
      take: async () => void (await take()),
      follow: () => void follow(),
      leave: async () => {
        outbox.close()
        await messages.return()
      },
    }
  }
  /** Lets readers take all available messages, then lets the hub look at the store. */
  const look = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns++) await clock.settle()
    await clock.pass(200)
    for (let turns = 0; turns < 20; turns++) await clock.settle()
  }
  return { open, look }
}

const NOTHING = { prices: { get: () => undefined }, profiles: { get: () => undefined } }

/** A store with the forked chain, whose last blocks were committed one by one. `at` is awaited after each commit. */
async function forked(at: (height: number, store: Store) => Promise<void>) {
  const place = await temporarySqlite()
  const blocks = await forkedChain(HEIGHT, HEIGHT - COMMON)
  const [early, until] = [50, HEIGHT - 12]
  const alone = blocks.slice(until).map(block => [block])
  const runs = [blocks.slice(0, early), blocks.slice(early, until), ...alone]
  await commitRuns(place.store, runs, { lib: HEIGHT + 5, onCommitted: height => at(height, place.store) })
  return place
}

async function takeBack(store: Store): Promise<void> {
  expect((await repairedEnd(store, replay.node)).aligned.way).toBe('back')
}

async function loadOn(store: Store): Promise<void> {
  expect(await loadFrom(replay.url, store)).toBe(NEXT)
}

/** A trail names a block 16 below the last one. */
const RESET = { kind: 'reset', seq: HEIGHT - 15, height: HEIGHT - 16 }

test('feeds: rows sent long after the list was read are taken back after others were added', async () => {
  let readers: ReturnType<typeof readersOf> | undefined
  let reader: Reader | undefined
  const place = await forked(async (height, store) => {
    if (height < HEIGHT - 12) return
    readers ??= readersOf(store)
    if (reader === undefined) {
      reader = await readers.open(1)
      reader.follow()
    }
    await readers.look()
  })
  try {
    expect(reader?.last()).toMatchObject({ kind: 'rows', last: HEIGHT + 1 })
    await takeBack(place.store)
    await loadOn(place.store)
    await readers?.look()
    expect(reader?.last()).toMatchObject(RESET)
  } finally {
    await place.destroy()
  }
})

test.each(['not joined', 'joined'])(
  'feeds: a slow reader, with %s other readers, learns that rows of its page were taken back, however many were added since',
  async way => {
    let readers: ReturnType<typeof readersOf> | undefined
    const of: { slow?: Reader; fast?: Reader } = {}
    let later: Promise<void> | undefined
    const place = await forked(async (height, store) => {
      if (height < HEIGHT - 12) return
      readers ??= readersOf(store)
      if (of.fast === undefined) {
        of.fast = await readers.open(1)
        of.fast.follow()
      }
      if (height === HEIGHT - (way === 'joined' ? 1 : 0)) {
        of.slow = await readers.open(height + 1)
        await of.slow.take()
        if (way === 'joined') later = of.slow.take()
      }
      await readers.look()
    })
    try {
      await later
      expect(of.slow?.last()).toMatchObject({ kind: 'rows', last: HEIGHT + 1 })
      await takeBack(place.store)
      await readers?.look()
      expect(of.fast?.last()).toMatchObject(RESET)
      const other = await readers?.open(1)
      other?.follow()
      await readers?.look()
      if (way === 'not joined') of.slow?.follow()
      await readers?.look()
      await loadOn(place.store)
      await readers?.look()
      expect(other?.last()).toMatchObject({ kind: 'rows', last: NEXT + 1 })
      if (way === 'joined') of.slow?.follow()
      await readers?.look()
      expect(of.slow?.last()).toMatchObject(RESET)
      await other?.leave()
    } finally {
      await place.destroy()
    }
  },
)
