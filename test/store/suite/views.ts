import { expect, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/list.ts'
import { wealth } from '#indices/wealth.ts'
import type { Store, View } from '#store/port.ts'
import { failureOf, kindOf } from '#test/support/refusal.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { turn } from '#test/support/wait.ts'
import { publishedAt, readTelling, tellingAt, tellingBatch } from './fixture.ts'
import { type Open, withWriter } from './harness.ts'

/** Reads until `done` is true, and at least once more. Returns the heights read. */
async function readUntil(store: Store, done: () => boolean): Promise<readonly number[]> {
  const seen: number[] = []
  let last = false
  while (!last) {
    last = done()
    const got = await store.read(readTelling)
    expect<unknown>(got).toEqual(tellingAt(got.at.height))
    seen.push(got.at.height)
    await turn()
  }
  return seen
}

/** Reads of one published height. */
export function viewCases(open: Open): void {
  test('read: every view has one height while batches are committed, and heights never decrease', () =>
    withWriter(open, async ({ store, reopen, writer }) => {
      await commitBatch(writer, tellingBatch(0, 0))
      let done = false
      const others = [store, store, await reopen()]
      const readers = others.map(reader => readUntil(reader, () => done))
      try {
        let next = 1
        for (const size of [1, 2, 5, 1, 3, 20, 1, 1]) {
          await commitBatch(writer, tellingBatch(next, next + size - 1))
          expect((await store.published())?.height).toBe(next + size - 1)
          next += size
        }
      } finally {
        done = true
      }
      for (const seen of await Promise.all(readers)) {
        expect(seen).toEqual(seen.toSorted((a, b) => a - b))
        expect(seen.at(-1)).toBe(34)
      }
    }))

  test('read: results and errors of the work are passed on, for many reads at once; an abort before or during the work ends it with a deadline', () =>
    withWriter(open, async ({ store, writer }) => {
      await commitBatch(writer, tellingBatch(0, 4))
      const many = await Promise.all(Array.from({ length: 100 }, () => store.read(readTelling)))
      expect<unknown>(many).toEqual(new Array(100).fill(tellingAt(4)))
      const mistake = new RangeError('a mistake of the caller')
      const thrown = store.read(() => Promise.reject(mistake)).catch((error: unknown) => error)
      expect(await thrown).toBe(mistake)
      const inner = await Promise.all(
        Array.from({ length: 50 }, () =>
          kindOf(store.read(view => view.page(wealth, 'richest', { group: 'x', offset: 0, limit: 1 }))),
        ),
      )
      expect(new Set(inner)).toEqual(new Set(['defect']))
      let runs = 0
      const count = async () => {
        runs += 1
      }
      const before = await failureOf(store.read(count, { signal: AbortSignal.abort() }))
      expect([before.kind, runs]).toEqual(['deadline', 0])
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
}
