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
