import { expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import type { StateChange } from '#indices/registry.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { wealth } from '#indices/wealth.ts'
import type { HeldView, Store } from '#store/port.ts'
import { seeded, seedOf } from '#test/support/seeded.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { turn } from '#test/support/wait.ts'
import { batchOf, identity, statisticsDoc } from './fixture.ts'
import { kindOf, type Open, withStore } from './harness.ts'
import { balanceDoc } from './samples.ts'

const OWNERS = 40
const BATCHES = 16
const TOKEN = 'held'

/** Amounts above zero of the owners of a token at each height, largest first. */
type Truth = ReadonlyMap<number, readonly (readonly [owner: string, amount: bigint])[]>

/** A chain of batches in which random owners change. Many leave the ranking and return. */
function plan(seed: number): { readonly truth: Truth; readonly changes: readonly (readonly StateChange[])[] } {
  const random = seeded(seed)
  const truth = new Map<number, readonly (readonly [string, bigint])[]>()
  const amounts = new Map<string, bigint>()
  const changes = Array.from({ length: BATCHES }, (_, height): readonly StateChange[] => {
    const touched = new Set(Array.from({ length: 7 }, () => `owner${Math.floor(random() * OWNERS)}`))
    const changed = [...touched].map(owner => {
      const amount = BigInt(Math.floor(random() * 6)) * 2n ** 60n
      const known = amounts.get(owner)
      amounts.set(owner, amount)
      const before = known === undefined ? {} : { before: balanceDoc(TOKEN, owner, { amount: known }) }
      return { index: balances, doc: balanceDoc(TOKEN, owner, { amount }), ...before } as StateChange
    })
    const ranked = [...amounts].filter(([, amount]) => amount > 0n)
    truth.set(
      height,
      ranked.toSorted(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1)),
    )
    const before = height === 0 ? {} : { before: statisticsDoc({ transaction_count: height - 1 }) }
    const doc = statisticsDoc({ transaction_count: height })
    return [...changed, { index: statistics, doc, ...before } as StateChange]
  })
  return { truth, changes }
}

/** The content of a held view, read in small pages with other work in between. */
async function contentOf({ view }: HeldView) {
  const rows: (readonly [string, bigint])[] = []
  for (;;) {
    const part = await view.page(balances, 'holders', { group: TOKEN, offset: rows.length, limit: 7 })
    rows.push(...part.map(({ owner, amount }) => [owner, amount] as const))
    await turn()
    if (part.length < 7) break
  }
  const count = (await view.get(statistics, STATISTICS))?.transaction_count
  const [first] = rows
  const alone = first && (await view.getMany(balances, [`${TOKEN}/${first[0]}`, `${TOKEN}/nobody`]))
  return { rows, count, alone: alone?.map(doc => doc?.amount) }
}

function expectedOf(truth: Truth, height: number) {
  const rows = truth.get(height) ?? []
  return { rows, count: height, alone: rows[0] && [rows[0][1], undefined] }
}

const hold = (store: Store): Promise<HeldView> => store.hold({ state: [balances, statistics] })

/** Views that are held while batches are committed. */
export function heldCases(open: Open): void {
  test('hold: a view shows exactly its height, however many batches are committed meanwhile', () =>
    withStore(open, async ({ store }) => {
      const seed = seedOf(1)
      const { truth, changes } = plan(seed)
      await store.create()
      const writer = await store.takeOver(identity)
      await commitBatch(writer, batchOf(0, 0, { changes: changes[0] ?? [] }))
      let isDone = false
      const wrong: unknown[] = []
      const heights = new Set<number>()
      const reader = async (): Promise<void> => {
        while (!isDone) {
          const held = await hold(store)
          const { height } = held.view.at
          heights.add(height)
          const content = await contentOf(held)
          if (!Bun.deepEquals(content, expectedOf(truth, height))) wrong.push({ height, content })
          held.close()
        }
      }
      const readers = [reader(), reader(), reader()]
      // One view is held from the first height to the last.
      const first = await hold(store)
      for (let height = 1; height < BATCHES; height += 1) {
        await commitBatch(writer, batchOf(height, height, { changes: changes[height] ?? [] }))
        for (let turns = 0; turns < 5; turns += 1) await turn()
      }
      isDone = true
      await Promise.all(readers)
      expect({ seed, wrong, many: heights.size > 3 }).toEqual({ seed, wrong: [], many: true })
      expect<unknown>(await contentOf(first)).toEqual(expectedOf(truth, first.view.at.height))
      first.close()
      const last = await hold(store)
      expect<unknown>(await contentOf(last)).toEqual(expectedOf(truth, BATCHES - 1))
      last.close()
      await writer.release()
    }))

  test('hold: it fails without a published height, after an abort, and after the store is closed', () =>
    withStore(open, async ({ store, reopen }) => {
      await store.create()
      expect(await kindOf(store.hold({ state: [wealth] }))).toBe('unavailable')
      const writer = await store.takeOver(identity)
      await commitBatch(writer, batchOf(0, 0))
      expect(await kindOf(store.hold({ state: [wealth], signal: AbortSignal.abort() }))).toBe('deadline')
      const other = await reopen()
      const held = await other.hold({ state: [wealth] })
      await other.close()
      await turn()
      expect(await kindOf(held.view.page(wealth, 'richest', { offset: 0, limit: 1 }))).toBe('unavailable')
      held.close()
      await writer.release()
    }))

  test('hold: a view whose signal aborts cannot be read any more', () =>
    withStore(open, async ({ store }) => {
      await store.create()
      const writer = await store.takeOver(identity)
      await commitBatch(writer, batchOf(0, 0))
      const leaving = new AbortController()
      const held = await store.hold({ state: [wealth], signal: leaving.signal })
      leaving.abort()
      await turn()
      expect(await kindOf(held.view.page(wealth, 'richest', { offset: 0, limit: 1 }))).toBe('deadline')
      held.close()
      await writer.release()
    }))
}
