import { Failure, toFailure } from '#failure/failure.ts'
import { type HeadBlock, type HeadSource, type HeadState, selectHead } from '#head/head-state.ts'
import type { Published, Store } from '#store/port.ts'
import { type Clock, runEvery } from '#time/clock.ts'
import { awaitLimited } from '#time/deadline.ts'
import { buildFeedPart, type Message, type Trail } from './message.ts'
import { type FeedList, type FeedProgress, type FoundRows, type NewRows, readNewRows } from './new-rows.ts'
import type { Outbox } from './outbox.ts'

type Poller = {
  /** Called with the published height at each poll, whether it is new or not. A call that takes too long is aborted. */
  height(published: Published | undefined, signal: AbortSignal): Promise<void> | void
  beat(): void
  /** Called once instead of further heights, when the store has been unreadable for `SILENT_MS`. */
  silent(failure: Failure): void
}

/** Interval between two reads of the published height. The chain makes a block every 500 ms. */
const POLL_MS = 100
const BEAT_MS = 15_000
/** The feeds end when the store cannot be read for this time: silence would mean that there is nothing new. */
const SILENT_MS = 5_000

type PollClock = Pick<Clock, 'sleep' | 'elapsed' | 'after'>

/** Polls the published height until the returned function is called. */
function pollHeight(store: Pick<Store, 'published'>, clock: PollClock, poller: Poller): () => void {
  let reading = new AbortController()
  let good = clock.elapsed()
  let beaten = good
  let isStopped = false
  const stop = (): void => {
    isStopped = true
    polling.stop()
    reading.abort()
  }
  const polling = runEvery(clock, POLL_MS, async () => {
    reading = new AbortController()
    const cancel = clock.after(SILENT_MS, () => reading.abort())
    try {
      const published = await awaitLimited(store.published(), {
        ms: SILENT_MS,
        late: () => new Failure('unavailable', `The store did not return its height within ${SILENT_MS} ms.`),
        clock,
      })
      if (isStopped) return
      await poller.height(published, reading.signal)
      good = clock.elapsed()
    } catch (error) {
      if (isStopped || clock.elapsed() - good < SILENT_MS) return
      stop()
      poller.silent(toFailure(error))
    } finally {
      cancel()
    }
    if (isStopped || clock.elapsed() - beaten < BEAT_MS) return
    beaten = clock.elapsed()
    poller.beat()
  })
  return stop
}

/** A subscriber to published heights, without rows. */
type Watcher = {
  /**
   * Called immediately with the last height if it is known, then with later ones. Of several heights within
   * `LEAST_MS`, only the last is sent.
   */
  published(published: Published): void
  beat(): void
  /** The last call: there are no more heights. */
  end(failure: Failure): void
}

/** Minimum interval between two heights for a watcher: a store that catches up publishes many per second. */
const LEAST_MS = 250

/** Distributes published heights to watchers. Each is subscribed until the returned function is called. */
function heightWatch(store: Pick<Store, 'published'>, clock: PollClock) {
  const watchers = new Set<Watcher>()
  let known: Published | undefined
  let knownFrom = 0
  let stop: () => void = () => undefined
  const height = (now: Published | undefined): void => {
    // A different block at the same height is a change, too.
    if (now === undefined || (known?.height === now.height && known.hash === now.hash)) return
    if (known !== undefined && clock.elapsed() - knownFrom < LEAST_MS) return
    known = now
    knownFrom = clock.elapsed()
    for (const watcher of watchers) watcher.published(now)
  }
  const beat = (): void => {
    for (const watcher of watchers) watcher.beat()
  }
  const remove = (watcher: Watcher): void => {
    if (!watchers.delete(watcher) || watchers.size > 0) return
    stop()
    known = undefined
  }
  const silent = (failure: Failure): void => {
    for (const watcher of [...watchers]) {
      remove(watcher)
      watcher.end(failure)
    }
  }
  return (watcher: Watcher): (() => void) => {
    if (watchers.size === 0) stop = pollHeight(store, clock, { height, beat, silent })
    watchers.add(watcher)
    if (known !== undefined) watcher.published(known)
    return () => remove(watcher)
  }
}

/** A reader that has all rows of a list before `next`. */
export type FeedFollower = {
  readonly list: FeedList
  readonly outbox: Outbox<Message>
  /** The `seq` of the next row to send; initially beyond the end of the list. */
  next: number
  /** Whether it has the packed rows that its group has. At first it has none. */
  hasPacked: boolean
}

/** All followers of one list in one format. */
type FeedGroup = FeedProgress & { readonly followers: Set<FeedFollower> }

/**
 * Sends new rows to all readers. Each new height is read once for all lists, and each row is
 * serialized once.
 */
export type FeedHub = {
  /**
   * Subscribes the follower's outbox to new rows, until a message 'behind' is put into it, or `leave`. `end`,
   * `count`: the height at which the follower read its list, and the number of its rows. Returns false if the
   * hub has passed that height or is reading.
   */
  join(follower: FeedFollower, read: { readonly end: Published; readonly count: number }): boolean
  leave(follower: FeedFollower): void
  /** Resolves when no read is in progress; `join` succeeds only then. */
  whenIdle(): Promise<void>
  /** Sends each published height to the watcher, until the returned function is called. */
  watch(watcher: Watcher): () => void
}

type State = {
  readonly groups: Map<string, FeedGroup>
  /**
   * Followers that read their list at another block than the hub. The next read finds whether both blocks
   * belong to one chain.
   */
  readonly apart: Map<FeedFollower, Published>
  /** The height up to which rows were sent; undefined: there are no followers. */
  at: Published | undefined
  /** The last read's trail, and the head blocks that were sent. */
  trail: Trail | undefined
  branch: readonly HeadBlock[]
  /** The state of the head as last sent. Also undefined while a follower waits for the first of them. */
  head: HeadState | undefined
  reading: Promise<unknown> | undefined
  stop: () => void
}

const listFollowers = ({ groups }: State): readonly FeedFollower[] =>
  [...groups.values()].flatMap(group => [...group.followers])

function leave(state: State, follower: FeedFollower): void {
  const { name } = follower.list
  const group = state.groups.get(name)
  state.apart.delete(follower)
  if (group?.followers.delete(follower) !== true) return
  if (group.followers.size === 0) state.groups.delete(name)
  if (state.groups.size > 0) return
  state.stop()
  // The blocks of the last branch would be kept for nobody.
  Object.assign(state, { at: undefined, trail: undefined, branch: [], head: undefined })
}

/** Removes a follower, which then reads its list by itself. */
function sendBack(state: State, follower: FeedFollower): void {
  leave(state, follower)
  follower.outbox.put({ kind: 'behind' })
}

export function feedHub(
  store: Pick<Store, 'published' | 'read'>,
  clock: PollClock,
  source: HeadSource | undefined,
): FeedHub {
  const state: State = {
    groups: new Map(),
    apart: new Map(),
    at: undefined,
    trail: undefined,
    branch: [],
    head: undefined,
    reading: undefined,
    stop: () => undefined,
  }
  const poller: Poller = {
    height: (published, signal) => update(state, store, { published, head: source?.current(), signal }),
    beat: () => {
      const { at } = state
      const head = at === undefined ? undefined : selectHead(source?.current(), at)
      for (const { outbox, list } of listFollowers(state))
        outbox.beat({ kind: 'beat', height: at?.height ?? 0, head: list.isHead ? head : undefined })
    },
    silent: failure => {
      for (const follower of listFollowers(state)) {
        leave(state, follower)
        follower.outbox.end({ kind: 'end', failure })
      }
    },
  }
  return {
    join: (follower, { end, count }) => {
      const { groups, reading, at } = state
      if (reading !== undefined || (at !== undefined && end.height < at.height)) return false
      const { list } = follower
      const group = groups.get(list.name) ?? { list, next: count + 1, held: [], followers: new Set() }
      groups.set(list.name, group)
      // The list may have received its first row since.
      group.list = list
      group.next = Math.min(group.next, count + 1)
      group.followers.add(follower)
      if (list.isHead) state.head = undefined
      if (at !== undefined && at.hash !== end.hash) state.apart.set(follower, end)
      if (at === undefined) state.stop = pollHeight(store, clock, poller)
      state.at ??= end
      return true
    },
    leave: follower => leave(state, follower),
    whenIdle: async () => {
      await state.reading?.catch(() => undefined)
    },
    watch: heightWatch(store, clock),
  }
}

type ReadRequest = {
  readonly published: Published | undefined
  readonly head: HeadState | undefined
  readonly signal: AbortSignal
}

/** Reads new rows if there can be any, and sends them. */
async function update(
  state: State,
  store: Pick<Store, 'read'>,
  { published, head, signal }: ReadRequest,
): Promise<void> {
  const { at: since, trail, branch } = state
  const groups = [...state.groups.values()]
  const apart = [...state.apart]
  const isSame = published?.height === since?.height && published?.hash === since?.hash
  const knowsHead = head === state.head || !groups.some(({ list }) => list.isHead)
  if (since === undefined || (isSame && knowsHead && apart.length === 0)) return
  const ends = apart.map(([, end]) => end)
  const reading = store.read(view => readNewRows(view, { since, ends, groups, trail, branch, head }), { signal })
  state.reading = reading
  // A follower that joined between the end of the read and its distribution would miss these rows.
  try {
    const read = await reading
    if (state.at === since) handOutAll(state, read, { groups, apart, head })
  } finally {
    state.reading = undefined
  }
}

type Before = {
  readonly groups: readonly FeedGroup[]
  readonly apart: readonly (readonly [FeedFollower, Published])[]
  readonly head: HeadState | undefined
}

/** Sends the rows that were read, and sends followers that need more back to their lists. */
function handOutAll(state: State, read: NewRows, { groups, apart, head }: Before): void {
  state.at = read.at
  state.trail = read.trail
  state.branch = read.branch
  state.head = head
  for (const [index, [follower]] of apart.entries())
    if (read.areOn[index] === true) state.apart.delete(follower)
    else sendBack(state, follower)
  for (const [index, group] of groups.entries()) {
    const found = read.found[index] ?? 'behind'
    if (found !== 'behind') handOut(group, found, read)
    else for (const follower of [...group.followers]) sendBack(state, follower)
  }
}

/** Sends the new rows of a group to its followers; followers that lack the same rows share one part. */
function handOut(group: FeedGroup, found: FoundRows, { at, trail }: Pick<NewRows, 'at' | 'trail'>): void {
  const { news, head } = found
  if (news === undefined && head === undefined) return
  group.next = news === undefined ? group.next : news.first + news.lines.length
  const made = new Map<string, ReturnType<typeof findMissingRows>>()
  for (const follower of group.followers) {
    const key = `${follower.next} ${follower.hasPacked}`
    const own = made.get(key) ?? findMissingRows(group, follower, { ...found, trail })
    made.set(key, own)
    follower.next = own.next
    follower.hasPacked = own.hasPacked
    if (own.part !== undefined) follower.outbox.put(own.part, own.part.bytes.length)
  }
  if (head !== undefined)
    group.held = head.blocks ?? group.held.filter(({ height }) => height > at.height && height <= head.common)
}

/** The new rows of a group that a follower lacks, and what it has after them. */
function findMissingRows(
  group: FeedGroup,
  { next, hasPacked }: Pick<FeedFollower, 'next' | 'hasPacked'>,
  { news, head, trail }: FoundRows & { readonly trail: Trail },
) {
  const lines = news !== undefined && next < group.next ? news.lines.slice(next - news.first) : []
  const later = next + lines.length
  // A reader that waits for a row further on receives none before it.
  if (head === undefined || later > group.next)
    return { next: later, hasPacked, part: buildFeedPart({ next, lines, trail }) }
  const held = hasPacked ? group.held : []
  const droppedFrom = held.find(({ height }) => height > head.common)?.height
  const top = held.findLast(({ height }) => height <= head.common)?.height ?? -1
  const packed = (head.blocks ?? []).flatMap(({ height, lines: rows }) => (height > top ? rows : []))
  return {
    next: later,
    hasPacked: hasPacked || head.blocks !== undefined,
    part: buildFeedPart({ next, lines, droppedFrom, packed, trail }),
  }
}
