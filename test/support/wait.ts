import { awaitLimited } from '#time/deadline.ts'

/** Much longer than anything that succeeds takes, even on a busy machine, and shorter than a test's timeout. */
const PATIENCE_MS = 120_000

/**
 * Calls `look` every few milliseconds (with 0: after each turn of the event loop) and returns its first
 * result that fits. Throws after two minutes with a description of the condition and the last result.
 */
export async function seen<T>(look: () => T | Promise<T>, fits: (got: T) => boolean, everyMs = 5): Promise<T> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const got = await look()
    if (fits(got)) return got
    if (performance.now() > end) throw late(`${fits}, of what ${look} gives; at last that was ${Bun.inspect(got)}`)
    await (everyMs > 0 ? Bun.sleep(everyMs) : turn())
  }
}

/** Repeats a check, as `seen` does, until it is true. */
export async function until(isSo: () => boolean | Promise<boolean>, everyMs = 5): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > end) throw late(String(isSo))
    await (everyMs > 0 ? Bun.sleep(everyMs) : turn())
  }
}

/** Waits for a promise that may never settle. Throws with a description after two minutes. */
export const soon = <T>(what: string, promise: Promise<T>): Promise<T> =>
  awaitLimited(promise, { ms: PATIENCE_MS, late: () => late(what) })

const late = (what: string): Error => new Error(`Waited ${PATIENCE_MS / 1_000} s for ${what}.`)

export const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
