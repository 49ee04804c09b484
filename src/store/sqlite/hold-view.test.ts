import { expect, test } from 'bun:test'
import { wealth } from '#indices/wealth.ts'
import { batchOf, identity, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'
import { holdView } from './hold-view.ts'
import { createReaders } from './readers.ts'

test('holdView: a WAL that is too long ends the view, and no view is held until it is short again', async () => {
  const { store, path, destroy } = await temporarySqlite()
  await store.create()
  const writer = await store.takeOver(identity)
  await commitBatch(writer, tellingBatch(0, 0))
  const readers = createReaders(path, 'sqlite:test')
  const place = { path, name: 'sqlite:test', signal: undefined, mostLogBytes: 1_000_000 }
  const held = await holdView(readers, place)
  const page = () => held.view.page(wealth, 'richest', { offset: 0, limit: 5 })
  expect((await page()).map(({ total }) => total)).toEqual([1n, 1n])
  for (let height = 1; height < 400; height += 1) await commitBatch(writer, batchOf(height, height))
  const refused = { kind: 'unavailable', message: expect.stringContaining('its log has') }
  expect(await failureOf(page())).toMatchObject(refused)
  expect(await failureOf(holdView(readers, place))).toMatchObject(refused)
  held.close()
  readers.close()
  await writer.release()
  await destroy()
})
