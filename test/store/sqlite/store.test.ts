import { Database } from 'bun:sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { storeSuite } from '#test/store/suite/suite.ts'

storeSuite('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'iostlens-sqlite-'))
  const path = join(folder, 'data', 'store.sqlite')
  const stores: Store[] = []
  const open = () => {
    const store = openSqlite({ path })
    stores.push(store)
    return store
  }
  return {
    store: open(),
    reopen: async () => open(),
    spoil: async () => {
      const db = new Database(path)
      db.run('ALTER TABLE "wealth" ADD COLUMN "more" TEXT')
      db.close()
    },
    destroy: async () => {
      for (const store of stores) await store.close()
      await rm(folder, { recursive: true })
    },
  }
})
