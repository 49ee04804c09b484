/** Writes text where a slow reader may be. */
export type LineWriter = {
  write(text: string): void
  /** Resolves when nothing is left to write, or when `giveUp` does. */
  written(giveUp: Promise<void>): Promise<void>
}

/** What waits for a slow reader; beyond that it is dropped. */
const MAX_WAITING = 1_000_000

/**
 * Writes one piece after the other; what comes meanwhile waits and is written together. A reader that has stalled costs
 * no memory: what does not fit is dropped and counted, and a line says how many there were once it reads again.
 * @param send writes, and calls `done` when that went out or failed.
 */
export const lineWriter = (
  send: (text: string, done: () => void) => void,
  options: { readonly maxWaiting?: number; readonly dropped: (count: number) => string },
): LineWriter => {
  const { maxWaiting = MAX_WAITING, dropped } = options
  let waiting: string[] = []
  let length = 0
  let lost = 0
  let isSending = false
  let idle = Promise.withResolvers<void>()

  const sendNext = (): void => {
    if (waiting.length === 0 && lost === 0) {
      isSending = false
      idle.resolve()
      return
    }
    const text = waiting.join('') + (lost === 0 ? '' : dropped(lost))
    waiting = []
    length = 0
    lost = 0
    send(text, sendNext)
  }

  return {
    write: text => {
      if (text === '') return
      if (isSending) {
        if (length + text.length > maxWaiting) {
          lost += 1
          return
        }
        waiting.push(text)
        length += text.length
        return
      }
      isSending = true
      idle = Promise.withResolvers()
      send(text, sendNext)
    },
    written: async giveUp => {
      if (isSending) await Promise.race([idle.promise, giveUp])
    },
  }
}
