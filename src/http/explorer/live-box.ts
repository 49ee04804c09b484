/** The texts that wait for a live page. */
export type LiveBox = {
  /** A height takes the place of one that was not taken yet. */
  put(text: string): void
  /** A sign of life, for those who have nothing to take. */
  beat(text: string): void
  /** The last text; what waits is dropped. */
  end(text: string): void
  /** All texts, each as soon as there is one. */
  texts(): AsyncGenerator<string, void, void>
  close(): void
}

/** A box for one text: a page wants to know where the chain is, not where it was. */
export const liveBox = (): LiveBox => {
  let waiting: string | undefined
  let isClosed = false
  let wake: () => void = () => undefined
  const put = (text: string): void => {
    if (isClosed) return
    waiting = text
    wake()
  }
  return {
    put,
    beat: text => {
      if (waiting === undefined) put(text)
    },
    end: text => {
      put(text)
      isClosed = true
    },
    texts: async function* () {
      for (;;) {
        const text = waiting
        waiting = undefined
        if (text !== undefined) yield text
        else if (isClosed) return
        else
          await new Promise<void>(resolve => {
            wake = resolve
          })
      }
    },
    close: () => {
      isClosed = true
      waiting = undefined
      wake()
    },
  }
}
