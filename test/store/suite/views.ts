import { expect, test } from 'bun:test'
import { balances } from '#indices/balance.ts'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { wealth } from '#indices/wealth.ts'
import type { Batch, HeldView, Store, View } from '#store/port.ts'
import { kindOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { turn } from '#test/support/wait.ts'
import { balanceDoc, batchOf, publishedAt, readTelling, tellingAt, tellingBatch, totalAt } from './fixture.ts'
import { type Open, withWriter } from './harness.ts'

const TOKEN = 'held'
const owners = Array.from({ length: 40 }, (_, owner) => owner)
/** A balance whose amount changes with the height. Many owners leave the ranking and return. */
const docAt = (owner: number, height: number) =>
  balanceDoc(TOKEN, `owner${String(owner).padStart(2, '0')}`, {
    amount: BigInt((owner * 7 + height * (owner % 5)) % 6) * 2n ** 60n,
  })

/** A telling batch that changes balances, too. */
function createBatch(first: number, last: number): Batch {
  const batch = tellingBatch(first, last)
  const balanceChanges = owners
    .map(owner => ({ doc: docAt(owner, last), before: docAt(owner, first - 1) }))
    .filter(({ doc, before }) => first === 0 || doc.amount !== before.amount)
    .map(({ doc, before }) => ({ index: balances, doc, ...(first === 0 ? {} : { before }) }))
  return { ...batch, changes: [...batch.changes, ...balanceChanges] }
}

/** The content of a held view, read in small pages with other work in between. */
async function readContent({ view }: HeldView) {
  const rows: (readonly [string, bigint])[] = []
  for (;;) {
    const part = await view.page(balances, 'holders', { group: TOKEN, offset: rows.length, limit: 7 })
    rows.push(...part.map(({ owner, amount }) => [owner, amount] as const))
    await turn()
    if (part.length < 7) break
  }
  const ids = [`${TOKEN}/${rows[0]?.[0]}`, `${TOKEN}/nobody`]
  const alone = (await view.getMany(balances, ids)).map(doc => doc?.amount)
  return { rows, alone, total: (await view.get(wealth, 'a'))?.total }
}

/** The owners of a token at a height, largest amount first. */
function contentAt(height: number) {
  const ranked = owners.map(owner => docAt(owner, height)).filter(({ amount }) => amount > 0n)
  const rows = ranked
    .toSorted((a, b) => Number(b.amount - a.amount))
    .map(({ owner, amount }) => [owner, amount] as const)
  return { rows, alone: [rows[0]?.[1], undefined], total: totalAt(height) }
}

const hold = (store: Store): Promise<HeldView> => store.hold({ state: [balances, wealth] })

/** Reads of one published height, and views that are held while batches are committed. */
export function viewCases(open: Open): void {
  test('read, hold: every view shows exactly its height, however many batches are committed meanwhile, and heights never decrease', () =>
    withWriter(open, async ({ store, reopen, writer }) => {
      await commitBatch(writer, createBatch(0, 0))
      let isDone = false
      /** Reads heights until all batches are committed, and once more. */
      const follow = async (read: () => Promise<number>): Promise<readonly number[]> => {
        const heights: number[] = []
        for (let isLast = false; !isLast; await turn()) {
          isLast = isDone
          heights.push(await read())
        }
        return heights
      }
      const createReader = (from: Store) => async () => {
        const got = await from.read(readTelling)
        expect<unknown>(got).toEqual(tellingAt(got.at.height))
        return got.at.height
      }
      const holdOnce = async () => {
        const held = await hold(store)
        const { height } = held.view.at
        expect<unknown>(await readContent(held)).toEqual(contentAt(height))
        held.close()
        return height
      }
      const readers = [store, store, await reopen()].map(createReader)
      const [reading, holding] = [readers, [holdOnce, holdOnce, holdOnce]].map(each => Promise.all(each.map(follow)))
      // One view is held from the first height to the last.
      const first = await hold(store)
      let next = 1
      for (const size of [1, 2, 5, 1, 3, 20, ...new Array(9).fill(1)]) {
        await commitBatch(writer, createBatch(next, next + size - 1))
        next += size
        expect((await store.published())?.height).toBe(next - 1)
        for (let turns = 0; turns < 5; turns += 1) await turn()
      }
      isDone = true
      const held = (await holding) ?? []
      for (const heights of [...((await reading) ?? []), ...held]) {
        expect(heights).toEqual(heights.toSorted((a, b) => a - b))
        expect(heights.at(-1)).toBe(next - 1)
      }
      expect(new Set(held.flat()).size).toBeGreaterThan(3)
      expect<unknown>(await readContent(first)).toEqual(contentAt(first.view.at.height))
      first.close()
    }))

  test('read: results and errors of the work are passed on, for many reads at once; an abort before or during the work ends it with a deadline', () =>
    withWriter(open, async ({ store, writer }) => {
      await commitBatch(writer, tellingBatch(0, 4))
      const many = await Promise.all(Array.from({ length: 100 }, () => store.read(readTelling)))
      expect<unknown>(many).toEqual(new Array(100).fill(tellingAt(4)))
      const mistake = new RangeError('a mistake of the caller')
      await expect(store.read(() => Promise.reject(mistake))).rejects.toBe(mistake)
      const wrong = () => kindOf(store.read(view => view.page(wealth, 'richest', { group: 'x', offset: 0, limit: 1 })))
      expect(new Set(await Promise.all(Array.from({ length: 50 }, wrong)))).toEqual(new Set(['defect']))
      let runs = 0
      const count = async () => {
        runs += 1
      }
      expect([await kindOf(store.read(count, { signal: AbortSignal.abort() })), runs]).toEqual(['deadline', 0])
      // Work that never ends by itself.
      const stop = new AbortController()
      const hang = async (view: View) => {
        await view.get(blocks, blockId(0))
        stop.abort()
        await new Promise<never>(() => {})
      }
      expect(await kindOf(store.read(hang, { signal: stop.signal }))).toBe('deadline')
      // More hanging reads than any pool is wide. All end, and the next read is served.
      const stops = Array.from({ length: 40 }, () => new AbortController())
      const all = stops.map(({ signal }) => kindOf(store.read(() => new Promise<never>(() => {}), { signal })))
      await turn()
      for (const each of stops) each.abort()
      expect(new Set(await Promise.all(all))).toEqual(new Set(['deadline']))
      expect(await store.read(async ({ at }) => at)).toEqual(publishedAt(4))
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
