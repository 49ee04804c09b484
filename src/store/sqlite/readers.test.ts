import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import { blockId } from '#indices/position.ts'
import type { View } from '#store/port.ts'
import { batchOf, identity, publishedAt } from '#test/store/suite/fixture.ts'
import { failureOf, kindOf } from '#test/store/suite/harness.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { openSqlite } from './open-sqlite.ts'

const { store, path, destroy } = await temporarySqlite()
beforeAll(async () => {
  await store.create()
  await commitBatch(await store.takeOver(identity), batchOf(0, 3))
})
afterAll(destroy)
const never = () => new Promise<never>(() => {})

describe('readers', () => {
  test('a view used after its read is refused, because it would show another snapshot', async () => {
    const kept = await store.read(async view => [view])
    const [view] = kept
    expect(await failureOf(view?.get(blocks, blockId(0)) ?? never())).toMatchObject({
      kind: 'defect',
      message: 'A view was used after its read had ended.',
    })
  })

  test('endless reading is stopped by its deadline, and other reads run meanwhile', async () => {
    let others = 0
    const endless = kindOf(
      store.read(
        async view => {
          for (;;) await view.get(blocks, blockId(0))
        },
        { signal: AbortSignal.timeout(50) },
      ),
    )
    const rest = (async () => {
      while (Bun.peek.status(endless) === 'pending') {
        await store.read(view => view.get(blocks, blockId(1)))
        others += 1
        await new Promise<void>(resolve => setImmediate(resolve))
      }
    })()
    expect(await endless).toBe('deadline')
    await rest
    expect(others).toBeGreaterThan(0)
  })

  test('work that continues after its deadline cannot read any more', async () => {
    const stop = new AbortController()
    const leaked = Promise.withResolvers<View>()
    const read = kindOf(
      store.read(
        view => {
          leaked.resolve(view)
          return never()
        },
        { signal: stop.signal },
      ),
    )
    const view = await leaked.promise
    expect((await view.get(blocks, blockId(1)))?.height).toBe(1)
    stop.abort()
    expect(await read).toBe('deadline')
    expect(await kindOf(view.get(blocks, blockId(1)))).toBe('deadline')
  })

  test('close: running and waiting reads end', async () => {
    const other = openSqlite({ path: path, readonly: true })
    const begun = Promise.withResolvers<void>()
    const hanging = Array.from({ length: 50 }, () =>
      failureOf(
        other.read(() => {
          begun.resolve()
          return never()
        }),
      ),
    )
    await begun.promise
    await other.close()
    const ends = (await Promise.all(hanging)).map(({ kind, retryable }) => `${kind} ${retryable}`)
    expect(new Set(ends)).toEqual(new Set(['unavailable false']))
    expect(await store.published()).toEqual(publishedAt(3))
  })
})
