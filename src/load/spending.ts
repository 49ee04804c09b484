import type { Clock } from '#time/clock.ts'

/** Milliseconds that a load has spent: waiting for blocks, which come proved; waiting for the store; on all else. */
export type Spent = { readonly node: number; readonly deriving: number; readonly store: number }

/** Measures what a load spends its time on; it waits for one thing at a time. */
export type Spending = {
  readonly spent: Spent
  /** All of the time of `work` counts; what it waits for as well (`waiting`). */
  loading<T>(work: () => Promise<T>): Promise<T>
  waiting<T>(whom: 'node' | 'store', work: () => Promise<T>): Promise<T>
}

export const spending = ({ elapsed }: Pick<Clock, 'elapsed'>): Spending => {
  const waited = { node: 0, store: 0 }
  let loaded = 0
  let begun: number | undefined
  let wait: { readonly whom: 'node' | 'store'; readonly since: number } | undefined
  const waitedFor = (whom: 'node' | 'store'): number =>
    waited[whom] + (wait?.whom === whom ? elapsed() - wait.since : 0)
  return {
    get spent() {
      const all = loaded + (begun === undefined ? 0 : elapsed() - begun)
      const [node, store] = [waitedFor('node'), waitedFor('store')]
      return { node, store, deriving: Math.max(0, all - node - store) }
    },
    loading: async work => {
      begun = elapsed()
      try {
        return await work()
      } finally {
        loaded += elapsed() - begun
        begun = undefined
      }
    },
    waiting: async (whom, work) => {
      const since = elapsed()
      wait = { whom, since }
      try {
        return await work()
      } finally {
        waited[whom] += elapsed() - since
        wait = undefined
      }
    },
  }
}
