import type { Published, View } from '#store/port.ts'
import type { Rows } from '../list/rows.ts'
import type { Followed } from './followed.ts'
import type { Mailbox } from './mailbox.ts'
import { pieceOf, type Writer } from './piece.ts'
import type { Place } from './place.ts'
import { type BlockLines, type Known, settle } from './settle.ts'

/** How the rows of a list are shown and written; the same for all readers with the same `name`. */
export type Shown = {
  readonly name: string
  /** Whether rows of blocks that are not irreversible yet are sent, too. */
  readonly isHead: boolean
  readonly rows: (view: View, docs: readonly unknown[]) => Promise<Rows>
  readonly write: Writer
}

/** A reader who has all rows of a list before `next` that it wants. */
export type Reader = {
  readonly followed: Followed
  readonly shown: Shown
  readonly end: Published
  /** Rows of the list at that height. */
  readonly count: number
  /** The row to send next: beyond `count`. */
  readonly next: number
  /** What it has of blocks above that height; undefined: nothing. */
  readonly place: Place | undefined
  readonly mailbox: Mailbox
}

/** Readers of one list in one form. `next`: the first row that was not sent. */
export type Group = {
  readonly followed: Followed
  readonly shown: Shown
  readonly next: number
  /** Blocks above with rows, as they were known last: they are not written again. */
  readonly held: readonly BlockLines[]
}

/** What came to a group: irreversible rows as JSON, each with its block, `first` is the `seq` of the first; and the blocks above. */
export type Found = {
  readonly news:
    | { readonly first: number; readonly lines: readonly string[]; readonly heights: readonly number[] }
    | undefined
  /** undefined: the group does not ask for them. */
  readonly above: Known | undefined
}

/** Those who follow lists, by what they are sent. */
export const readerGroups = () => {
  const groups = new Map<string, OwnGroup>()
  const places = new Map<Reader, OwnGroup>()
  let hasNewcomers = false
  const leave = (reader: Reader): void => {
    const group = places.get(reader)
    places.delete(reader)
    group?.readers.delete(reader)
    if (group?.readers.size === 0) groups.delete(nameOf(group))
  }
  return {
    isEmpty: (): boolean => places.size === 0,
    readers: (): readonly Reader[] => [...places.keys()],
    all: (): readonly Group[] => [...groups.values()],
    /** Whether anybody joined since the last look who wants to know of the blocks above. */
    hasNewcomers: (): boolean => hasNewcomers,
    leave,
    join: (reader: Reader): void => {
      const name = nameOf(reader)
      const { followed, shown, count, next, place } = reader
      const group = groups.get(name) ?? { followed, shown, next: count + 1, held: [], readers: new Map() }
      // The list may have its first row by now.
      group.followed = followed
      group.next = Math.min(group.next, count + 1)
      group.readers.set(reader, { next, place })
      groups.set(name, group)
      places.set(reader, group)
      hasNewcomers ||= shown.isHead
    },
    /** Hands out what one look found, by group: 'unknown' makes its readers read on by themselves. */
    handOut: (of: readonly Group[], found: readonly (Found | 'unknown')[]): void => {
      hasNewcomers = false
      for (const [at, one] of of.entries()) {
        const group = groups.get(nameOf(one))
        const news = found[at]
        if (group === undefined || news === undefined) continue
        if (news !== 'unknown') put(group, news)
        else
          for (const reader of [...group.readers.keys()]) {
            leave(reader)
            reader.mailbox.put({ kind: 'behind' })
          }
      }
    },
  }
}

/** Hands what came to a group to its readers; those who lack the same share one piece of memory. */
const put = (group: OwnGroup, { news, above }: Found): void => {
  if (news === undefined && above === undefined) return
  group.next = news === undefined ? group.next : news.first + news.lines.length
  const made = new Map<string, ReturnType<typeof lackingOf>>()
  for (const [reader, { next, place }] of group.readers) {
    const key = `${next}${place?.text ?? ''}`
    const own = made.get(key) ?? lackingOf(group, { next, place }, { news, above })
    made.set(key, own)
    group.readers.set(reader, own)
    if (own.piece !== undefined) reader.mailbox.put(own.piece)
  }
  if (above !== undefined) group.held = above.now ?? group.held.filter(({ height }) => height > above.height)
}

type Standing = { readonly next: number; readonly place: Place | undefined }

const lackingOf = (group: OwnGroup, { next, place }: Standing, { news, above }: Found) => {
  const isNew = news !== undefined && next < group.next
  const lines = isNew ? news.lines.slice(next - news.first) : []
  const heights = isNew ? news.heights.slice(next - news.first) : []
  const later = next + lines.length
  // Who waits for a row further on wants none before it.
  const isAhead = later > group.next
  const settled = above === undefined || isAhead ? undefined : settle(place, heights, above)
  const piece = pieceOf(group.shown.write, { next, place, lines }, settled)
  return { next: later, place: settled === undefined ? place : settled.place, piece }
}

type OwnGroup = {
  followed: Followed
  readonly shown: Shown
  next: number
  held: readonly BlockLines[]
  /** What each reader has. */
  readonly readers: Map<Reader, Standing>
}

/** Readers of one name are sent the same rows. */
const nameOf = ({ shown, followed }: Pick<Reader, 'shown' | 'followed'>): string =>
  `${shown.name} ${followed.kind === 'records' ? followed.key : ''}`
