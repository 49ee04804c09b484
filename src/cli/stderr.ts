/** stderr: lines of text, and on a terminal one bar below them that is drawn over. */
export type Screen = {
  readonly isTerminal: boolean
  readonly columns: () => number
  /** A line that stays. */
  line(text: string): void
  /** Replaces the bar; '' takes it away. Does nothing where there is no terminal. */
  bar(text: string): void
  /** Leaves the bar as a line. */
  keepBar(): void
}

const CLEAR = '\r\u001b[2K'

export const createScreen = (options: {
  readonly write: (text: string) => void
  readonly isTerminal: boolean
  readonly columns: () => number
}): Screen => {
  const { write, isTerminal, columns } = options
  let shown = ''
  return {
    isTerminal,
    columns,
    line: text => write(shown === '' ? `${text}\n` : `${CLEAR}${text}\n${shown}`),
    bar: text => {
      if (!isTerminal || text === shown) return
      // One column stays free, or the terminal would begin a new line.
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

/** Writes text where a slow reader may be. */
export type LineWriter = {
  write(text: string): void
  /** Resolves when nothing is left to write, or when `giveUp` does. */
  written(giveUp: Promise<void>): Promise<void>
  /** Takes what has not been sent yet: for a process that ends at once. */
  takeRest(): string
  /** Lines dropped so far. */
  dropped(): number
}

/** The line that stands in the log for dropped ones. */
export const droppedLines = (count: number): string =>
  `${count} log lines were dropped because they were read too slowly.\n`

/** Characters that wait for a slow reader at most; further lines are dropped. */
const MAX_WAITING = 1_000_000

/**
 * Writes what came in one turn of the event loop as one piece, and one piece after the other: a service that is overrun
 * writes a line for each request it refuses. A reader that has stalled costs no memory: what does not fit is dropped and
 * counted, and a line says how many there were once it reads again.
 * @param send writes, and calls `done` when that went out or failed.
 */
export const lineWriter = (
  send: (text: string, done: () => void) => void,
  options: {
    readonly maxWaiting?: number
    readonly dropped: (count: number) => string
    /** Runs work at the end of this turn of the event loop. */
    readonly soon?: (work: () => void) => void
  },
): LineWriter => {
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
      // One alone is never too long.
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
