export type Outbox<T> = {
  /** `bytes`: the size of the item that counts toward the limit. An item beyond the limit ends the outbox. */
  put(item: T, bytes?: number): void
  replace(item: T): void
  /** Adds an item if none is waiting: a reader with unread items needs no heartbeat. */
  beat(item: T): void
  /** Replaces all waiting items by the last one. Only the first call has an effect. */
  end(item: T): void
  /** All items as they arrive, up to the last one; none after the outbox is closed. */
  items(): AsyncGenerator<T, void, void>
  close(): void
  isOver(): boolean
}

type Limits<T> = {
  readonly mostBytes: number
  /** The last item when the limit is exceeded. A single item may have any size. */
  readonly full: T
}

/** @param onEnd called once when the outbox is ended, not when it is closed */
export function openOutbox<T>(limits?: Limits<T>, onEnd: () => void = () => undefined): Outbox<T> {
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
      if (limits !== undefined && waitingBytes > 0 && waitingBytes + bytes > limits.mostBytes) return end(limits.full)
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
