import { Failure } from '#failure/failure.ts'

/** Lends out a bounded number of items, first come first served. */
export type Pool<T> = {
  /** A usable idle item, unless callers wait; undefined: none. Throws as `borrow` does. */
  readonly takeIdle: (signal?: AbortSignal) => T | undefined
  /** Waits for a free item. Throws 'deadline' when `signal` aborts first, and the errors of `open`. */
  readonly borrow: (signal?: AbortSignal) => Promise<T>
  /** Returns a borrowed item. Every borrowed item must be returned, or dropped when it is unusable. */
  readonly giveBack: (item: T) => void
  readonly drop: (item: T) => void
  /** Closes idle items now, and borrowed ones on return. Rejects waiters and new callers. */
  readonly close: () => void
}

export type PoolOptions<T> = {
  readonly size: number
  readonly open: () => T
  readonly dispose: (item: T) => void
  /** Whether a returned item may be used again; false: it is closed and replaced. */
  readonly isOfUse?: (item: T) => boolean
  readonly closed: () => Failure
}

type Waiter = { readonly go: () => void; readonly fail: (failure: Failure) => void }

export function createPool<T>({ size, open, dispose, isOfUse = () => true, closed }: PoolOptions<T>): Pool<T> {
  const idle: T[] = []
  const queue = new Set<Waiter>()
  let lent = 0
  let isClosed = false

  /** Passes a free place to the first caller in the queue. */
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
      // An item that was returned for a waiting caller is reserved for that caller.
      const item = lent < size ? idleOfUse() : undefined
      if (item !== undefined) lent += 1
      return item
    },
    borrow: async signal => {
      if (isClosed) throw closed()
      if (signal?.aborted === true) throw deadline()
      if (lent < size) lent += 1
      else await joinQueue(queue, signal)
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

const joinQueue = (queue: Set<Waiter>, signal: AbortSignal | undefined): Promise<void> =>
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

export const deadline = (): Failure => new Failure('deadline', 'The store did not respond before the deadline.')
