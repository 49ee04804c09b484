import { forgetTurns, type QueuesMemory, queuesMemory } from '#http/turns.ts'
import { type AddressMemory, addressMemory, forgetAddressUser } from '#keys/address-limits.ts'
import { rateMemory } from '#keys/rate.ts'
import { forgetUser, type UseMemory } from '#keys/use-table.ts'
import { forgetGauges, type MetricsMemory } from '#metrics/memory.ts'
import { catalogue } from '../metrics/catalogue.ts'
import type { Values } from '../settings.ts'

/** What the threads of one service count together: threads 0 … `threads` − 1 serve, the next number is the main thread's. */
export type ServingMemory = {
  readonly threads: number
  readonly rates: UseMemory
  readonly addresses: AddressMemory
  readonly turns: QueuesMemory
  /** Bytes of nodes' answers that each thread holds. */
  readonly held: SharedArrayBuffer
  readonly metrics: MetricsMemory
}

export const servingMemory = (
  threads: number,
  metrics: MetricsMemory,
  values: Pick<Values, 'max-in-flight' | 'max-exports' | 'max-feeds' | 'max-feeds-per-key'>,
): ServingMemory => ({
  threads,
  rates: rateMemory(),
  addresses: addressMemory(),
  turns: queuesMemory({
    maxInFlight: values['max-in-flight'],
    maxExports: values['max-exports'],
    maxFeeds: values['max-feeds'],
    maxFeedsPerKey: values['max-feeds-per-key'],
    threads,
  }),
  held: new SharedArrayBuffer(threads * 4),
  metrics,
})

/** Takes back what a thread that has died had taken; for the main thread. */
export const forgetThread = (
  { threads, rates, addresses, turns, held, metrics }: ServingMemory,
  dead: number,
): void => {
  Atomics.store(new Int32Array(held), dead, 0)
  forgetUser(rates, dead)
  forgetAddressUser(addresses, dead)
  forgetTurns(turns, dead, threads)
  forgetGauges(catalogue, metrics, dead)
}
