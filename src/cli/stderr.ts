/** stderr as lines of text; a terminal also has one bar below them that is redrawn. */
export type Screen = {
  readonly isTerminal: boolean
  readonly columns: () => number
  /** Writes a line that stays. */
  line(text: string): void
  /** Replaces the bar; '' removes it. Does nothing without a terminal. */
  bar(text: string): void
  /** Keeps the current bar as a line. */
  keepBar(): void
}

const CLEAR = '\r\u001b[2K'

export function createScreen(options: {
  readonly write: (text: string) => void
  readonly isTerminal: boolean
  readonly columns: () => number
}): Screen {
  const { write, isTerminal, columns } = options
  let shown = ''
  return {
    isTerminal,
    columns,
    line: text => write(shown === '' ? `${text}\n` : `${CLEAR}${text}\n${shown}`),
    bar: text => {
      if (!isTerminal || text === shown) return
      // One column stays free, because some terminals wrap a full line.
      const cut = text.slice(0, Math.max(10, columns() - 1))
      write(shown === '' && cut === '' ? '' : `${CLEAR}${cut}`)
      shown = cut
    },
    keepBar: () => {
      if (shown !== '') write('\n')
      shown = ''
    },
  }
}

/** A writer for a reader that may be slow. */
type LineWriter = {
  write(text: string): void
  /** Resolves when nothing is left to write, or when `giveUp` does. */
  written(giveUp: Promise<void>): Promise<void>
  /** Removes and returns the text that has not been sent yet, for a process that ends at once. */
  takeRest(): string
  dropped(): number
}

/** Maximum number of characters waiting for a slow reader; further lines are dropped. */
const MAX_WAITING = 1_000_000

/**
 * Writes all text of one turn of the event loop in one piece, and one piece after the other: an overloaded
 * service writes a line for each refused request. Memory is bounded when the reader stalls: lines beyond the
 * limit are dropped, and a line gives their number once the reader continues.
 * @param send writes, and calls `done` when the write has succeeded or failed.
 */
export function lineWriter(
  send: (text: string, done: () => void) => void,
  options: {
    readonly maxWaiting?: number
    readonly dropped: (count: number) => string
    /** Runs work at the end of the current turn of the event loop. */
    readonly soon?: (work: () => void) => void
  },
): LineWriter {
  const { maxWaiting = MAX_WAITING, dropped, soon = setImmediate } = options
  let waiting: string[] = []
  let length = 0
  let lost = 0
  let lostInAll = 0
  let isSending = false
  let idle = Promise.withResolvers<void>()

  const take = (): string => {
    const text = waiting.join('') + (lost === 0 ? '' : dropped(lost))
    waiting = []
    length = 0
    lost = 0
    return text
  }
  const sendNext = (): void => {
    const text = take()
    if (text !== '') {
      send(text, sendNext)
      return
    }
    isSending = false
    idle.resolve()
  }

  return {
    write: text => {
      if (text === '') return
      // A single line is accepted whatever its length.
      if (length > 0 && length + text.length > maxWaiting) {
        lost += 1
        lostInAll += 1
        return
      }
      waiting.push(text)
      length += text.length
      if (isSending) return
      isSending = true
      idle = Promise.withResolvers()
      soon(sendNext)
    },
    written: async giveUp => {
      if (isSending) await Promise.race([idle.promise, giveUp])
    },
    takeRest: take,
    dropped: () => lostInAll,
  }
}
