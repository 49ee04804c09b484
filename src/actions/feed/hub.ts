import type { HeadSource } from '#head/head-state.ts'
import { type HeadState, selectHead } from '#head/head-state.ts'
import type { Published, Store } from '#store/port.ts'
import type { End } from '../find/blocks-at.ts'
import type { FeedList, FeedProgress } from './feed-list.ts'
import { followBranch } from './follow-branch.ts'
import type { HeadPosition } from './head-position.ts'
import { heightWatch, type Watcher } from './heights.ts'
import type { Trail } from './landmarks.ts'
import { buildFeedPart, type Message } from './message.ts'
import { type FoundRows, type NewRows, readNewRows, type TrailText } from './new-rows.ts'
import type { Outbox } from './outbox.ts'
import { type PollClock, type Poller, pollHeight } from './poll.ts'

/** A reader that has all rows of a list before `next`. */
export type FeedFollower = {
  readonly list: FeedList
  readonly outbox: Outbox<Message>
  /** The `seq` of the next row to send; initially beyond the end of the list. */
  next: number
  /** The reader's position in the head blocks; undefined: it has no rows of them. */
  place: HeadPosition | undefined
}

/** All followers of one list in one format. */
export type FeedGroup = FeedProgress & { readonly followers: Set<FeedFollower> }

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
  /** Published blocks, ascending. Their hashes show where a chain that was rolled back diverges. */
  landmarks(): readonly End[]
  /** Sends each published height to the watcher, until the returned function is called. */
  watch(watcher: Watcher): () => void
}

/** The state of the hub. */
type State = {
  readonly groups: Map<string, FeedGroup>
  /**
   * Followers that read their list at another block than the hub. The next read finds whether both blocks
   * belong to one chain.
   */
  readonly apart: Map<FeedFollower, Published>
  /** The height up to which rows were sent; undefined: there are no followers. */
  at: Published | undefined
  landmarks: readonly End[] | undefined
  trail: TrailText | undefined
  /** The head blocks as last sent. Also undefined while a follower waits for the first of them. */
  head: HeadState | undefined
  reading: Promise<unknown> | undefined
  /** Stops the polling. */
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
  state.at = undefined
}

/**
 * Removes a follower, which then reads its list by itself. `trail`: of the rows sent to it; absent: of the
 * rows that it had when it joined.
 */
function sendBack(state: State, follower: FeedFollower, trail?: Trail): void {
  leave(state, follower)
  follower.outbox.put({ kind: 'behind', ...(trail === undefined ? {} : { trail }) })
}

export function feedHub(
  store: Pick<Store, 'published' | 'read'>,
  clock: PollClock,
  source: HeadSource | undefined,
): FeedHub {
  const state: State = {
    ...{ groups: new Map(), apart: new Map() },
    ...{ at: undefined, landmarks: undefined, trail: undefined, head: undefined, reading: undefined },
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
    landmarks: () => state.landmarks ?? [],
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
  const { at: since, landmarks, trail } = state
  const groups = [...state.groups.values()]
  const apart = [...state.apart]
  const isSame = published?.height === since?.height && published?.hash === since?.hash
  const knowsHead = head === state.head || !groups.some(({ list }) => list.isHead)
  // The landmarks of readers that have left belong to an earlier block.
  const areMarked = landmarks?.at(-1)?.hash === since?.hash
  if (since === undefined || (isSame && knowsHead && areMarked && apart.length === 0)) return
  const ends = apart.map(([, end]) => end)
  const reading = store.read(view => readNewRows(view, { since, ends, groups, landmarks, trail, head }), {
    signal,
  })
  state.reading = reading
  // A follower that joined between the end of the read and its distribution would miss these rows.
  try {
    const read = await reading
    if (state.at === since) handOutAll(state, read, { since, groups, apart, head })
  } finally {
    state.reading = undefined
  }
}

type Before = {
  readonly since: Published
  readonly groups: readonly FeedGroup[]
  readonly apart: readonly (readonly [FeedFollower, Published])[]
  readonly head: HeadState | undefined
}

/** Sends the rows that were read, and sends followers that need more back to their lists. */
function handOutAll(state: State, read: NewRows, { since, groups, apart, head }: Before): void {
  const trail = { at: since, landmarks: state.landmarks ?? [] }
  state.at = read.at
  state.landmarks = read.landmarks
  state.trail = read.trail
  state.head = head
  for (const [index, [follower]] of apart.entries())
    if (read.areOn[index] === true) state.apart.delete(follower)
    else sendBack(state, follower)
  for (const [index, group] of groups.entries()) {
    const found = read.found[index] ?? 'behind'
    if (found !== 'behind') handOut(group, found, read.trail?.text ?? '')
    else for (const follower of [...group.followers]) sendBack(state, follower, trail)
  }
}

/** Sends the new rows of a group to its followers; followers that lack the same rows share one part. */
function handOut(group: FeedGroup, found: FoundRows, trail: string): void {
  const { news, head } = found
  if (news === undefined && head === undefined) return
  group.next = news === undefined ? group.next : news.first + news.lines.length
  const made = new Map<string, ReturnType<typeof findMissingRows>>()
  for (const follower of group.followers) {
    const key = `${follower.next}${follower.place?.text ?? ''}`
    const own = made.get(key) ?? findMissingRows(group, follower, { ...found, trail })
    made.set(key, own)
    follower.next = own.next
    follower.place = own.place
    if (own.part !== undefined) follower.outbox.put(own.part, own.part.bytes.length)
  }
  if (head !== undefined) group.held = head.now ?? group.held.filter(({ height }) => height > head.height)
}

/** The new rows of a group that a follower lacks, and its position after them. */
function findMissingRows(
  group: FeedGroup,
  { next, place }: Pick<FeedFollower, 'next' | 'place'>,
  { news, head, trail }: FoundRows & { readonly trail: string },
) {
  const isNew = news !== undefined && next < group.next
  const lines = isNew ? news.lines.slice(next - news.first) : []
  const heights = isNew ? news.heights.slice(next - news.first) : []
  const later = next + lines.length
  // A reader that waits for a row further on receives none before it.
  const settled = head === undefined || later > group.next ? undefined : followBranch(place, heights, head)
  return {
    next: later,
    place: settled === undefined ? place : settled.place,
    part: buildFeedPart({ next, place, lines, trail }, settled),
  }
}
