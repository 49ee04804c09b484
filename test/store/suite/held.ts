import { expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import type { StateChange } from '#indices/registry.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { wealth } from '#indices/wealth.ts'
import type { HeldView, Store } from '#store/port.ts'
import { kindOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { turn } from '#test/support/wait.ts'
import { balanceDoc, batchOf, statisticsDoc } from './fixture.ts'
import { type Open, withWriter } from './harness.ts'

const OWNERS = 40
const BATCHES = 16
const TOKEN = 'held'

/** Amounts that change with the height. Many owners leave the ranking and return. */
const amountAt = (owner: number, height: number): bigint => BigInt((owner * 7 + height * (owner % 5)) % 6) * 2n ** 60n
const owners = Array.from({ length: OWNERS }, (_, owner) => owner)
const docAt = (owner: number, height: number) =>
  balanceDoc(TOKEN, `owner${String(owner).padStart(2, '0')}`, { amount: amountAt(owner, height) })

function changesAt(height: number): readonly StateChange[] {
  const before = (doc: object) => (height === 0 ? {} : { before: doc })
  const changed = owners.filter(owner => height === 0 || amountAt(owner, height) !== amountAt(owner, height - 1))
  const balanceChanges = changed.map(owner => ({
    ...{ index: balances, doc: docAt(owner, height) },
    ...before(docAt(owner, height - 1)),
  }))
  const [doc, former] = [height, height - 1].map(count => statisticsDoc({ transaction_count: count }))
  return [...balanceChanges, { index: statistics, doc, ...before(former ?? {}) }] as readonly StateChange[]
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

/** The owners of a token at a height, largest amount first. */
function expectedAt(height: number) {
  const ranked = owners.map(owner => docAt(owner, height)).filter(({ amount }) => amount > 0n)
  const rows = ranked
    .toSorted((a, b) => Number(b.amount - a.amount))
    .map(({ owner, amount }) => [owner, amount] as const)
  return { rows, count: height, alone: rows[0] && [rows[0][1], undefined] }
}

const hold = (store: Store): Promise<HeldView> => store.hold({ state: [balances, statistics] })

/** Views that are held while batches are committed. */
export function heldCases(open: Open): void {
  test('hold: a view shows exactly its height, however many batches are committed meanwhile', () =>
    withWriter(open, async ({ store, writer }) => {
      await commitBatch(writer, batchOf(0, 0, { changes: changesAt(0) }))
      let isDone = false
      const wrong: unknown[] = []
      const heights = new Set<number>()
      const reader = async (): Promise<void> => {
        while (!isDone) {
          const held = await hold(store)
          const { height } = held.view.at
          heights.add(height)
          const content = await contentOf(held)
          if (!Bun.deepEquals(content, expectedAt(height))) wrong.push({ height, content })
          held.close()
        }
      }
      const readers = [reader(), reader(), reader()]
      // One view is held from the first height to the last.
      const first = await hold(store)
      for (let height = 1; height < BATCHES; height += 1) {
        await commitBatch(writer, batchOf(height, height, { changes: changesAt(height) }))
        for (let turns = 0; turns < 5; turns += 1) await turn()
      }
      isDone = true
      await Promise.all(readers)
      expect({ wrong, many: heights.size > 3 }).toEqual({ wrong: [], many: true })
      expect<unknown>(await contentOf(first)).toEqual(expectedAt(first.view.at.height))
      first.close()
      const last = await hold(store)
      expect<unknown>(await contentOf(last)).toEqual(expectedAt(BATCHES - 1))
      last.close()
    }))

  test('hold: it fails without a published height, after an abort before or while it is held, and after the store is closed', () =>
    withWriter(open, async ({ store, reopen, writer }) => {
      expect(await kindOf(store.hold({ state: [wealth] }))).toBe('unavailable')
      await commitBatch(writer, batchOf(0, 0))
      expect(await kindOf(store.hold({ state: [wealth], signal: AbortSignal.abort() }))).toBe('deadline')
      const other = await reopen()
      const held = await other.hold({ state: [wealth] })
      await other.close()
      await turn()
      expect(await kindOf(held.view.page(wealth, 'richest', { offset: 0, limit: 1 }))).toBe('unavailable')
      held.close()
      const leaving = new AbortController()
      const left = await store.hold({ state: [wealth], signal: leaving.signal })
      leaving.abort()
      await turn()
      expect(await kindOf(left.view.page(wealth, 'richest', { offset: 0, limit: 1 }))).toBe('deadline')
      left.close()
    }))
}
