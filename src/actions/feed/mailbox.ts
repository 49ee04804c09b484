import type { Failure } from '#failure/failure.ts'
import type { HeadAt } from '#head/shown.ts'
import type { Place } from './place.ts'

/** Rows of a list that follow each other, ready to be sent. */
export type Piece = {
  readonly kind: 'rows'
  readonly bytes: Uint8Array
  readonly count: number
  /** `seq` of the last irreversible one; absent: there is none. */
  readonly last?: number
  /** What the reader has of blocks above then. */
  readonly place: Place | undefined
  /** Id of the last event. */
  readonly id: string
}

/** What a feed ends with. `seq`: the last row that was handed out, or that still holds. */
export type FeedEnd =
  /** The reader was too slow. */
  | { readonly kind: 'cut' }
  /** Blocks were taken back, and rows that were handed out with them; those up to `seq` still hold at `height`. */
  | { readonly kind: 'reset'; readonly seq: number; readonly height: number }
  /** The feed cannot go on. */
  | { readonly kind: 'end'; readonly failure: Failure }

/** How far the blocks above are known. */
export type HeadNow = Pick<HeadAt, 'status' | 'height'>

/** `beat`: nothing new up to a height; `head`: where they are asked for. `behind`: rows came that are not in the box, so the list is to be read again. */
export type Mail =
  | Piece
  | { readonly kind: 'beat'; readonly height: number; readonly head: HeadNow | undefined }
  | { readonly kind: 'behind' }
  | FeedEnd

/** What waits for one reader. */
export type Mailbox = {
  /** Rows of a reader who has too many waiting are dropped, and the end of the feed is put in their place. */
  put(mail: Mail): void
  /** The next one, as soon as there is one; undefined: the box is closed. */
  take(): Promise<Mail | undefined>
  /** Why the feed is to end, from the moment it is known. */
  readonly ending: () => FeedEnd | undefined
  /** Called once when the feed is to end. */
  onEnding(listener: () => void): void
  close(): void
}

/** Bytes that wait for a reader at most. What waits is shared by all readers of a list. */
const MOST_BYTES = 256 * 1024

export const openMailbox = (mostBytes = MOST_BYTES): Mailbox => {
  let waiting: Mail[] = []
  let bytes = 0
  let wake: (() => void) | undefined
  let ending: FeedEnd | undefined
  let onEnding: () => void = () => undefined
  let isClosed = false
  const end = (why: FeedEnd): void => {
    ending = why
    waiting = [why]
    bytes = 0
    onEnding()
  }
  return {
    put: mail => {
      if (isClosed || ending !== undefined) return
      // Someone who has rows to read needs no sign of life.
      if (mail.kind === 'beat' && waiting.length > 0) return
      if (isEnd(mail)) end(mail)
      else if (bytes > 0 && bytes + bytesOf(mail) > mostBytes) end({ kind: 'cut' })
      else {
        waiting.push(mail)
        bytes += bytesOf(mail)
      }
      wake?.()
    },
    take: async () => {
      while (!isClosed) {
        const mail = waiting.shift()
        if (mail !== undefined) {
          bytes -= bytesOf(mail)
          return mail
        }
        await new Promise<void>(resolve => {
          wake = resolve
        })
        wake = undefined
      }
      return undefined
    },
    ending: () => ending,
    onEnding: listener => {
      onEnding = listener
    },
    close: () => {
      isClosed = true
      waiting = []
      wake?.()
    },
  }
}

const isEnd = (mail: Mail): mail is FeedEnd =>
  mail.kind === 'cut' || mail.kind === 'reset' || mail.kind === 'end'

const bytesOf = (mail: Mail): number => (mail.kind === 'rows' ? mail.bytes.length : 0)
