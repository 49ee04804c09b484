import { beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createWorkerOpener } from '#cli/threads/loading-threads.ts'
import { copyStore } from '#store/sqlite/backup.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import type { FromWriting, ToWriting } from '#store/sqlite/threads/write-in-thread.ts'
import { testFolder } from '#test/support/test-folder.ts'
import { dumpSqlite } from '../../support/stores/dump.ts'
import { ARCHIVED, loadFrom } from '../../support/stores/loading.ts'

const open = createWorkerOpener<ToWriting, FromWriting>(new URL('../../../src/writing-thread.ts', import.meta.url))

const folder = testFolder()
const source = { path: join(folder, 'store.sqlite'), name: 'the store' }

beforeAll(async () => {
  const store = openSqlite({ path: source.path })
  await loadFrom(ARCHIVED, store, { to: 60 })
  await store.close()
})

const filesOf = (name: string): readonly string[] => readdirSync(folder).filter(each => each.startsWith(name))

test('copyStore: one program at a time copies to a file, and the other is refused without harm', async () => {
  const target = join(folder, 'two')
  let refused: unknown
  await copyStore(source, target, {
    beforeNaming: async () => {
      refused = await copyStore(source, target).catch(error => error)
    },
  })
  expect(refused).toMatchObject({ kind: 'usage', message: `Another program is making ${target}.` })
  expect(dumpSqlite(target)).toEqual(dumpSqlite(source.path))
  expect(filesOf('two')).toEqual(['two'])
})

test('copyStore: after a stop or a failure of the thread no file has the name', async () => {
  const target = join(folder, 'none')
  const signal = AbortSignal.abort()
  await expect(copyStore({ ...source, open }, target, { signal })).rejects.toMatchObject({ kind: 'deadline' })
  const lost = { ...source, open, path: join(folder, 'absent') }
  await expect(copyStore(lost, target)).rejects.toMatchObject({ kind: 'unavailable' })
  const dying: typeof open = listener => ({ post: () => listener.ended('a fault'), end: () => undefined })
  await expect(copyStore({ ...source, open: dying }, target)).rejects.toThrow('has died: a fault')
  expect(existsSync(target)).toBe(false)
})
