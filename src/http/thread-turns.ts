import { BLOCKED, numbersAt, type PlacesMemory, TOOK, WAKE, wake } from './places-memory.ts'

/** The turns of threads at places that all of them want. Nothing here is locked but where it says so. */
export type ThreadTurns = {
  /** Places that are left to threads that have waited for longer than this one. */
  owed(): number
  isBlocked(): boolean
  /** Notes whether this thread waits because no place is free. */
  block(isBlocked: boolean): void
  /** Wakes, of the other threads that wait for any place, the one that has waited for longest. */
  wakeBlocked(): void
  /** The same of those that are meant. */
  wakeOf(isMeant: (other: number) => boolean): void
  /** Changes when this thread is woken. */
  look(): number
  /** Calls `listener` once when this thread is woken after the look, at once if it was meanwhile. */
  sleep(look: number, listener: () => void): void
}

export const threadTurns = (memory: PlacesMemory, thread: number): ThreadTurns => {
  const words = new Int32Array(memory.words)
  const numbers = new Float64Array(memory.numbers)
  const others = Array.from({ length: memory.threads }, (_, other) => other).filter(other => other !== thread)
  const took = (other: number): number => numbers[numbersAt(other) + TOOK] ?? 0
  const isBlocked = (other: number): boolean => (numbers[numbersAt(other) + BLOCKED] ?? 0) > 0
  const wakeOf = (isMeant: (other: number) => boolean): void => {
    const [longest] = others.filter(isMeant).toSorted((a, b) => took(a) - took(b))
    if (longest !== undefined) wake(words, longest)
  }
  let isAsleep = false
  return {
    owed: () => others.filter(other => isBlocked(other) && took(other) < took(thread)).length,
    isBlocked: () => isBlocked(thread),
    block: isBlocked => {
      numbers[numbersAt(thread) + BLOCKED] = isBlocked ? 1 : 0
    },
    wakeBlocked: () => wakeOf(isBlocked),
    wakeOf,
    look: () => Atomics.load(words, WAKE + thread),
    sleep: (look, listener) => {
      if (isAsleep || others.length === 0) return
      const sleeping = Atomics.waitAsync(words, WAKE + thread, look)
      if (!sleeping.async) {
        listener()
        return
      }
      isAsleep = true
      void sleeping.value.then(() => {
        isAsleep = false
        listener()
      })
    },
  }
}
