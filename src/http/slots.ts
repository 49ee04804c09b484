import { Told } from './told.ts'

/** Bounds how many requests are worked on at once. */
export type Slots = {
  /** Runs `work` in a free slot, held until the work itself has ended. Throws 'unavailable' when none is free. */
  run<T>(work: () => Promise<T>): Promise<T>
}

export const createSlots = (max: number): Slots => {
  let taken = 0
  return {
    run: async work => {
      if (taken >= max)
        throw new Told('unavailable', `The service is busy: ${max} requests are in flight.`, {
          zh: `服务繁忙：正在处理的请求已达 ${max} 个。`,
          details: { retryAfter: 1 },
        })
      taken++
      try {
        return await work()
      } finally {
        taken--
      }
    },
  }
}
