/** The queue of one reader. */
export type Outbox<T> = {
  /** `bytes`: those of the item that count toward the limit. Items beyond the limit end the outbox. */
  put(item: T, bytes?: number): void
  /** Puts an item in the place of all that waits. */
  replace(item: T): void
  /** Puts an item unless something waits: a reader who has something to read needs no sign of life. */
  beat(item: T): void
  /** Puts the last item in the place of all that waits. The first end counts. */
  end(item: T): void
  /** All items, each as soon as there is one, up to the last one; none any more once it is closed. */
  items(): AsyncGenerator<T, void, void>
  close(): void
  /** Whether it was ended or closed. */
  isOver(): boolean
}

type Limits<T> = {
  readonly mostBytes: number
  /** The last item of a reader for whom more waits than that. A single item fits however long it is. */
  readonly full: T
}

/** @param onEnd called once when the outbox is ended, not when it is closed */
export const openOutbox = <T>(limits?: Limits<T>, onEnd: () => void = () => undefined): Outbox<T> => {
  let waiting: { readonly item: T; readonly bytes: number }[] = []
  let waitingBytes = 0
  let isOver = false
  let wake: (() => void) | undefined
  const fill = (items: typeof waiting): void => {
    waiting = items
    waitingBytes = items.reduce((sum, { bytes }) => sum + bytes, 0)
    wake?.()
  }
  const end = (item: T): void => {
    if (isOver) return
    isOver = true
    fill([{ item, bytes: 0 }])
    onEnd()
  }
  return {
    put: (item, bytes = 0) => {
      if (isOver) return
      if (limits !== undefined && waitingBytes > 0 && waitingBytes + bytes > limits.mostBytes)
        return end(limits.full)
      waiting.push({ item, bytes })
      waitingBytes += bytes
      wake?.()
    },
    replace: item => {
      if (!isOver) fill([{ item, bytes: 0 }])
    },
    beat: item => {
      if (!isOver && waiting.length === 0) fill([{ item, bytes: 0 }])
    },
    end,
    items: async function* () {
      for (;;) {
        const next = waiting.shift()
        if (next !== undefined) {
          waitingBytes -= next.bytes
          yield next.item
        } else if (isOver) return
        else {
          await new Promise<void>(resolve => {
            wake = resolve
          })
          wake = undefined
        }
      }
    },
    close: () => {
      isOver = true
      fill([])
    },
    isOver: () => isOver,
  }
}
