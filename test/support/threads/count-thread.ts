import { parentPort } from 'node:worker_threads'
import { createRates } from '#gate/rate.ts'
import { SharedUses, type UseMemory } from '#gate/shared-counts.ts'
import { Lock } from '#gate/shared-memory.ts'

/** The task of a test thread with shared memory. */
export type CountTask =
  | {
      readonly type: 'take'
      readonly memory: UseMemory
      readonly thread: number
      readonly plan: { readonly perSecond: number; readonly perDay: number }
      readonly keys: readonly string[]
      readonly times: number
      readonly now: number
      /** All threads begin when this many are ready. */
      readonly gate: SharedArrayBuffer
      readonly threads: number
    }
  /** Acquires a lock and keeps it. */
  | { readonly type: 'hold'; readonly memory: SharedArrayBuffer; readonly thread: number }

/** The number of allowed requests of each key. */
export type Taken = readonly (readonly [key: string, allowed: number])[]

const meet = (gate: SharedArrayBuffer, threads: number): void => {
  const here = new Int32Array(gate)
  Atomics.add(here, 0, 1)
  Atomics.notify(here, 0)
  for (let met = Atomics.load(here, 0); met < threads; met = Atomics.load(here, 0)) Atomics.wait(here, 0, met)
}

parentPort?.on('message', (task: CountTask) => {
  if (task.type === 'hold') {
    new Lock(new Int32Array(task.memory), 0, task.thread).run(() => {
      parentPort?.postMessage('held')
      for (;;);
    })
    return
  }
  const { memory, thread, plan, keys, times, now } = task
  const rates = createRates({ now: () => now, uses: new SharedUses(memory, thread) })
  const taken = new Map<string, number>()
  meet(task.gate, task.threads)
  for (let time = 0; time < times; time++)
    for (const id of keys) {
      const { allowed } = rates.take({ id, plan })
      if (allowed) taken.set(id, (taken.get(id) ?? 0) + 1)
    }
  parentPort?.postMessage([...taken])
})
