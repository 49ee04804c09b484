import { Failure } from '#failure/failure.ts'
import type { HeadSource } from '#head/showing.ts'
import { headAt, type Shown } from '#head/shown.ts'
import type { Published, Store } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { every } from '#time/every.ts'
import { type Reader, readerGroups } from './groups.ts'
import type { End } from './landmarks.ts'
import { lookAt } from './look.ts'

/** New rows of all lists that are followed in a thread: each new height is read once, whoever follows. */
export type FeedHub = {
  /**
   * From now on the reader's box gets each new row, until it is told that it is behind, or `leave`. false: the hub is
   * beyond the reader's height, which is to read on.
   */
  join(reader: Reader): boolean
  leave(reader: Reader): void
  /** Resolves when nothing is being read: only then can anybody join. */
  settled(): Promise<void>
  /** Blocks that were published, ascending: where a chain that was taken back leaves them is found by their hashes. */
  landmarks(): readonly End[]
}

/** Between two looks at the published height. The chain makes a block every 500 ms. */
const LOOK_MS = 100
/** A sign of life for readers who get nothing. */
const BEAT_MS = 15_000
/** A store that cannot be read for so long ends the feeds: silence would say that there is nothing new. */
const SILENT_MS = 5_000

export const feedHub = (
  store: Pick<Store, 'published' | 'read'>,
  clock: Pick<Clock, 'sleep' | 'elapsed' | 'after'>,
  source: Pick<HeadSource, 'shown'> | undefined,
): FeedHub => {
  const groups = readerGroups()
  /** How far rows were handed out; undefined: nobody follows. */
  let at: Published | undefined
  let marks: readonly End[] | undefined
  /** The blocks above as they were handed out. */
  let above: Shown | undefined
  let reading: Promise<unknown> | undefined
  let stop: () => void = () => undefined

  const leave = (reader: Reader): void => {
    groups.leave(reader)
    if (!groups.isEmpty()) return
    stop()
    at = undefined
  }
  const look = async (signal: AbortSignal): Promise<void> => {
    const since = at
    if (since === undefined) return
    const published = await store.published()
    const head = source?.shown()
    const asked = groups.all()
    const isSame =
      published?.height === since.height &&
      published.hash === since.hash &&
      marks !== undefined &&
      (!asked.some(({ shown }) => shown.isHead) || (head === above && !groups.hasNewcomers()))
    if (isSame || signal.aborted || at !== since) return
    const looked = store.read(view => lookAt(view, { since, groups: asked, marks, head }), { signal })
    reading = looked
    const {
      at: now,
      marks: later,
      found,
    } = await looked.finally(() => {
      reading = undefined
    })
    if (at !== since) return
    at = now
    marks = later
    above = head
    groups.handOut(asked, found)
    if (groups.isEmpty()) at = undefined
  }
  const begin = (end: Published): void => {
    at = end
    stop = looking(look, clock, {
      beat: () => {
        const head = at === undefined ? undefined : headAt(source?.shown(), at)
        for (const { mailbox, shown } of groups.readers())
          mailbox.put({
            kind: 'beat',
            height: at?.height ?? 0,
            head: shown.isHead ? head : undefined,
          })
      },
      silent: failure => {
        for (const reader of groups.readers()) {
          leave(reader)
          reader.mailbox.put({ kind: 'end', failure })
        }
      },
    })
  }
  return {
    join: reader => {
      if (reading !== undefined || (at !== undefined && reader.end.height < at.height)) return false
      groups.join(reader)
      if (at === undefined) begin(reader.end)
      return true
    },
    leave,
    settled: async () => {
      await reading?.catch(() => undefined)
    },
    landmarks: () => marks ?? [],
  }
}

/** Looks regularly until the returned function is called; a look that takes as long as a store may be silent is given up. */
const looking = (
  look: (signal: AbortSignal) => Promise<void>,
  clock: Pick<Clock, 'sleep' | 'elapsed' | 'after'>,
  { beat, silent }: { readonly beat: () => void; readonly silent: (failure: Failure) => void },
): (() => void) => {
  const stopping = new AbortController()
  let good = clock.elapsed()
  let beaten = good
  const { stop } = every(clock, LOOK_MS, async () => {
    const own = new AbortController()
    const giveUp = (): void => own.abort()
    stopping.signal.addEventListener('abort', giveUp)
    const cancel = clock.after(SILENT_MS, giveUp)
    try {
      await look(own.signal)
      good = clock.elapsed()
    } catch (error) {
      if (!stopping.signal.aborted && clock.elapsed() - good >= SILENT_MS)
        silent(error instanceof Failure ? error : new Failure('defect', String(error), { cause: error }))
    } finally {
      cancel()
      stopping.signal.removeEventListener('abort', giveUp)
    }
    if (clock.elapsed() - beaten < BEAT_MS) return
    beaten = clock.elapsed()
    beat()
  })
  return () => {
    stop()
    stopping.abort()
  }
}
