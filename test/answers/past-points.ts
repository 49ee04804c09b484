import { expect, test } from 'bun:test'
import { readHeldOfAll } from '#actions/find/series.ts'
import type { Store } from '#store/port.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { plainHeld, plainPast } from '../support/oracle/plain-past.ts'
import { seeded } from '../support/seeded.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const past = plainPast(blocks)
const ids = [...past.changes.keys()]
const busy = ids.filter(id => (past.changes.get(id)?.length ?? 0) > 100)

type Options = { readonly store: () => Pick<Store, 'read'>; readonly points: number; readonly seed: number }

const AT_ONCE = 25

/** Balances match a replay: busy ones half of the time, and heights around a change half of the time. */
export function pastPoints({ store, points, seed }: Options): void {
  const random = seeded(seed)
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const heightNear = (id: string): number => {
    const { height = 0 } = one(past.changes.get(id) ?? []) ?? {}
    return Math.min(Math.max(height - 1 + Math.floor(random() * 3), 0), blocks.length - 1)
  }

  test(`${points} balances at random points match a replay`, async () => {
    let [looked, frozen, none] = [0, 0, 0]
    while (looked < points) {
      const asked = Array.from({ length: AT_ONCE }, () => one(random() < 0.5 ? ids : busy))
      const height = random() < 0.5 ? heightNear(asked[0] ?? '') : Math.floor(random() * blocks.length)
      const found = await store().read(view => readHeldOfAll(view, asked, height))
      for (const [at, id] of asked.entries()) {
        const plain = plainHeld(past, id, height)
        const { available, frozen: locked, list } = found[at] ?? {}
        const seen = JSON.stringify([String(available), String(locked), list])
        const said = JSON.stringify([String(plain.available), String(plain.frozen), plain.list])
        // An expectation for each point takes longer than all the reads.
        if (seen !== said) expect([id, height, seen]).toEqual([id, height, said])
        looked += 1
        frozen += plain.frozen > 0n ? 1 : 0
        none += plain.available === 0n ? 1 : 0
      }
    }
    expect([looked >= points, frozen > points / 100, none > points / 100]).toEqual([true, true, true])
  })
}
