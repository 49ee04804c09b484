import { Failure } from '#failure/failure.ts'
import type { Store } from '#store/port.ts'

/** An empty store for one group of tests. */
export type Opened = {
  /** Not created yet. */
  readonly store: Store
  /** Another handle on the same data, as a second process has. */
  readonly reopen: () => Promise<Store>
  /** Makes one existing index or table other than `create` would make it. */
  readonly spoil: () => Promise<void>
  /** Closes every handle and removes the data. */
  readonly destroy: () => Promise<void>
}

export type Open = () => Promise<Opened>

/** Runs `body` on a new store and clears up after it. */
export const withStore = async (open: Open, body: (opened: Opened) => Promise<void>): Promise<void> => {
  const opened = await open()
  try {
    await body(opened)
  } finally {
    await opened.destroy()
  }
}

/** The Failure a call ends with; anything else is thrown on. */
export const failureOf = async (call: Promise<unknown>): Promise<Failure> => {
  try {
    await call
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error('The call went well; a Failure was expected.')
}

/** Kind of the Failure a call ends with. */
export const kindOf = async (call: Promise<unknown>): Promise<string> => (await failureOf(call)).kind
