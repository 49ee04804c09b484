/** Work of which one piece is under way while the next is made ready. */
export type OneUnderWay = {
  /** Waits for the piece under way, if there is one; throws why it failed, once. */
  settle(): Promise<void>
  /** `work` is under way from now on; its failure is thrown by the next `settle`. */
  begin(work: Promise<void>): void
}

export const oneUnderWay = (): OneUnderWay => {
  let pending: Promise<void> | undefined
  return {
    settle: async () => {
      const work = pending
      pending = undefined
      await work
    },
    begin: work => {
      pending = work
      // A failure before the next `settle` must not count as unhandled.
      work.catch(() => undefined)
    },
  }
}
