import { Failure } from '#failure/failure.ts'

/** Lends out a bounded number of things, first come first served. */
export type Pool<T> = {
  /** One that came back and is of use, if nobody waits; undefined: there is none. Throws as `borrow` does. */
  readonly takeIdle: (signal?: AbortSignal) => T | undefined
  /** Waits for one to be free. Throws 'deadline' when `signal` aborts first, and what `open` throws. */
  readonly borrow: (signal?: AbortSignal) => Promise<T>
  /** Every borrowed one is given back, or dropped when it is of no more use. */
  readonly giveBack: (item: T) => void
  readonly drop: (item: T) => void
  /** Closes idle connections now, borrowed ones on return. Rejects waiters and new callers. */
  readonly close: () => void
}

export type PoolOptions<T> = {
  readonly size: number
  readonly open: () => T
  readonly dispose: (item: T) => void
  /** Whether a returned connection may be used again; false: it is closed and replaced. */
  readonly isOfUse?: (item: T) => boolean
  readonly closed: () => Failure
}

type Waiter = { readonly go: () => void; readonly fail: (failure: Failure) => void }

export const poolOf = <T>({ size, open, dispose, isOfUse = () => true, closed }: PoolOptions<T>): Pool<T> => {
  const idle: T[] = []
  const queue = new Set<Waiter>()
  let lent = 0
  let isClosed = false

  /** A place is free: the first caller in the queue gets it. */
  const free = () => {
    const [next] = queue
    if (next === undefined) lent -= 1
    else next.go()
  }

  const idleOfUse = (): T | undefined => {
    for (let item = idle.pop(); item !== undefined; item = idle.pop()) {
      if (isOfUse(item)) return item
      dispose(item)
    }
    return undefined
  }

  return {
    takeIdle: signal => {
      if (signal?.aborted === true) throw deadline()
      // One that came back for a caller who waited is that caller's.
      const item = lent < size ? idleOfUse() : undefined
      if (item !== undefined) lent += 1
      return item
    },
    borrow: async signal => {
      if (isClosed) throw closed()
      if (signal?.aborted === true) throw deadline()
      if (lent < size) lent += 1
      else await waitIn(queue, signal)
      try {
        return idleOfUse() ?? open()
      } catch (error) {
        free()
        throw error
      }
    },
    giveBack: item => {
      if (isClosed) dispose(item)
      else idle.push(item)
      free()
    },
    drop: item => {
      dispose(item)
      free()
    },
    close: () => {
      isClosed = true
      for (const waiter of queue) waiter.fail(closed())
      for (const item of idle.splice(0)) dispose(item)
    },
  }
}

const waitIn = (queue: Set<Waiter>, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = () => {
      queue.delete(waiter)
      signal?.removeEventListener('abort', abort)
    }
    const abort = () => waiter.fail(deadline())
    const waiter: Waiter = {
      go: () => {
        leave()
        resolve()
      },
      fail: failure => {
        leave()
        reject(failure)
      },
    }
    signal?.addEventListener('abort', abort)
    queue.add(waiter)
  })

export const deadline = (): Failure =>
  new Failure('deadline', 'The store did not respond before the deadline.')
