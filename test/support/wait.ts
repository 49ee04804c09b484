import { within } from '#time/deadline.ts'

/** Much longer than anything takes that happens at all, on a busy machine too; shorter than a test may take. */
const PATIENCE_MS = 120_000

/**
 * What `look` gives as soon as it fits; looks again every few milliseconds, with 0 whenever other work had its turn. Throws
 * after two minutes, and says what it waited for and what it saw last.
 */
export const seen = async <T>(
  look: () => T | Promise<T>,
  fits: (got: T) => boolean,
  everyMs = 5,
): Promise<T> => {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const got = await look()
    if (fits(got)) return got
    if (performance.now() > end)
      throw late(`${fits}, of what ${look} gives; at last that was ${Bun.inspect(got)}`)
    await (everyMs > 0 ? Bun.sleep(everyMs) : turn())
  }
}

/** Looks again and again, as `seen` does, until it is so. */
export const until = async (isSo: () => boolean | Promise<boolean>, everyMs = 5): Promise<void> => {
  const end = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > end) throw late(String(isSo))
    await (everyMs > 0 ? Bun.sleep(everyMs) : turn())
  }
}

/** Waits for a promise that may never be settled. Throws after two minutes, and says what it waited for. */
export const soon = <T>(what: string, promise: Promise<T>): Promise<T> =>
  within(promise, { ms: PATIENCE_MS, late: () => late(what) })

const late = (what: string): Error => new Error(`Waited ${PATIENCE_MS / 1_000} s for ${what}.`)

/** Other work has its turn. */
export const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
