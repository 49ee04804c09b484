import type { Ref } from './bulk-item.ts'
import type { Got } from './get-many.ts'

type Found = readonly (Got | undefined)[]
type Read = (refs: readonly Ref[]) => Promise<Found>
type Wanted = {
  readonly refs: readonly Ref[]
  readonly resolve: (found: Found) => void
  readonly reject: (reason: unknown) => void
}

/** Combines the reads of one turn of the event loop: `Promise.all` over several reads is one request. */
export const batchGets = (read: Read): Read => {
  let waiting: Wanted[] = []
  const send = async (): Promise<void> => {
    const together = waiting
    waiting = []
    try {
      const found = await read(together.flatMap(({ refs }) => refs))
      let from = 0
      for (const { refs, resolve } of together) {
        resolve(found.slice(from, from + refs.length))
        from += refs.length
      }
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
  }
  return refs =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) queueMicrotask(send)
      waiting.push({ refs, resolve, reject })
    })
}
