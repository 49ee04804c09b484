import { expect } from 'bun:test'
import type { Running } from './cli-process.ts'

/**
 * Starts a command again and again, each time killing it (SIGKILL) after a while, until one comes to its end; how often
 * it was killed. Both callbacks are told how often so far; `seed` is shown when a run fails by itself.
 */
export const runKilled = async (
  seed: number,
  start: (kills: number) => Promise<Running>,
  waitMs: (kills: number) => number,
): Promise<number> => {
  for (let kills = 0; ; kills++) {
    const running = await start(kills)
    const timer = setTimeout(() => running.kill('SIGKILL'), waitMs(kills))
    const { code, err } = await running.ended
    clearTimeout(timer)
    if (code === 0) return kills
    expect([seed, code, /iostlens: .*/.exec(err)?.[0]]).toEqual([seed, 137, undefined])
  }
}
