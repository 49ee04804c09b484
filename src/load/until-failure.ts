/** Something that was thrown, whatever it is. */
export type Failed = { readonly error: unknown }

/** A stream that ends where it fails, so that what came before the failure still goes its way. */
export type UntilFailure<T> = AsyncIterable<T> & {
  /** Why it ended early; undefined: it did not. */
  readonly failure: Failed | undefined
}

export const untilFailure = <T>(items: AsyncIterable<T>): UntilFailure<T> => {
  let failure: Failed | undefined
  return {
    get failure() {
      return failure
    },
    [Symbol.asyncIterator]: async function* () {
      try {
        for await (const item of items) yield item
      } catch (error) {
        failure = { error }
      }
    },
  }
}
