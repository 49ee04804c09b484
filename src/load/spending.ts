import type { Clock } from '#time/clock.ts'

/** Milliseconds that a load has spent: waiting for blocks, which come proved; waiting for the store; on all else. */
export type Spent = { readonly node: number; readonly deriving: number; readonly store: number }

/** Measures what a load spends its time on, which is one thing at a time. */
export type Spending = {
  readonly spent: Spent
  /** From now on the time counts as spent on this; undefined: the load stands still, and its time counts as nothing. */
  on(what: keyof Spent | undefined): void
}

export const spending = ({ elapsed }: Pick<Clock, 'elapsed'>): Spending => {
  const spent = { node: 0, deriving: 0, store: 0 }
  let now: keyof Spent | undefined
  let since = 0
  const count = (): void => {
    const at = elapsed()
    if (now !== undefined) spent[now] += at - since
    since = at
  }
  return {
    get spent() {
      count()
      return { ...spent }
    },
    on: what => {
      count()
      now = what
    },
  }
}
