import type { HeadSource } from '#head/showing.ts'
import { headAt, type Shown } from '#head/shown.ts'
import type { Published, Store } from '#store/port.ts'
import type { Clock } from '#time/clock.ts'
import { type Reader, readerGroups } from './groups.ts'
import { heightWatch, type Watcher } from './heights.ts'
import type { End } from './landmarks.ts'
import { lookAt } from './look.ts'
import { type Looker, type Looks, storeLooks } from './looks.ts'

/** New rows of all lists that are followed in a thread: each new height is read once, whoever follows. */
type RowHub = {
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

/** What is new in a thread, whoever follows: rows, or the published height alone. */
export type FeedHub = RowHub & {
  /** From now on the watcher learns of each published height, until the returned function is called. */
  watch(watcher: Watcher): () => void
}

export const feedHub = (
  store: Pick<Store, 'published' | 'read'>,
  clock: Pick<Clock, 'sleep' | 'elapsed' | 'after'>,
  source: Pick<HeadSource, 'shown'> | undefined,
): FeedHub => {
  const looks = storeLooks(store, clock)
  return { ...rowHub(store, looks, source), watch: heightWatch(looks, clock) }
}

const rowHub = (
  store: Pick<Store, 'read'>,
  looks: Looks,
  source: Pick<HeadSource, 'shown'> | undefined,
): RowHub => {
  const groups = readerGroups()
  /** How far rows were handed out; undefined: nobody follows. */
  let at: Published | undefined
  let marks: readonly End[] | undefined
  /** The blocks above as they were handed out. */
  let above: Shown | undefined
  let reading: Promise<unknown> | undefined

  const endIfEmpty = (): void => {
    if (!groups.isEmpty()) return
    looks.end(looker)
    at = undefined
  }
  const leave = (reader: Reader): void => {
    groups.leave(reader)
    endIfEmpty()
  }
  const look: Looker['look'] = async (published, signal) => {
    const since = at
    if (since === undefined) return
    const head = source?.shown()
    const asked = groups.all()
    const isSame =
      published?.height === since.height &&
      published.hash === since.hash &&
      marks !== undefined &&
      (!asked.some(({ shown }) => shown.isHead) || (head === above && !groups.hasNewcomers()))
    if (isSame || signal.aborted) return
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
    endIfEmpty()
  }
  const looker: Looker = {
    look,
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
  }
  return {
    join: reader => {
      if (reading !== undefined || (at !== undefined && reader.end.height < at.height)) return false
      groups.join(reader)
      at ??= reader.end
      looks.begin(looker)
      return true
    },
    leave,
    settled: async () => {
      await reading?.catch(() => undefined)
    },
    landmarks: () => marks ?? [],
  }
}
