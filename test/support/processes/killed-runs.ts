import { expect } from 'bun:test'
import type { Running } from './cli-process.ts'
import { type Doomed, doomed } from './doomed.ts'

/**
 * Starts a command repeatedly, killing it (SIGKILL) at a write into the store at `place`, until one run
 * completes. Returns the number of kills. Both callbacks get the number of kills so far. `seed` is shown when
 * a run fails without a kill. `writeAt` must increase, so that one run completes.
 */
export async function runKilled(
  seed: number,
  place: readonly string[],
  writeAt: (kills: number) => number,
  start: (doom: Doomed, kills: number) => Promise<Running>,
): Promise<number> {
  for (let kills = 0; ; kills++) {
    const doom = await doomed(place, writeAt(kills))
    const running = await start(doom, kills)
    doom.killWith(() => running.kill('SIGKILL'))
    const { code, err } = await running.ended
    await doom.close()
    if (code === 0) return kills
    expect([seed, code, /iostlens: .*/.exec(err)?.[0]]).toEqual([seed, 137, undefined])
  }
}
