import { Database } from 'bun:sqlite'
import { describe } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'
import { commitCases } from './suite/commit.ts'
import { createCases, takeOverCases } from './suite/create.ts'
import { documentCases } from './suite/documents.ts'
import type { Open } from './suite/harness.ts'
import { heldCases } from './suite/held.ts'
import { keyCases, usageCases } from './suite/keys.ts'
import { listCases } from './suite/lists.ts'
import { nameCases } from './suite/names.ts'
import { orderCases } from './suite/orders.ts'
import { rankingCases } from './suite/rankings.ts'
import { viewCases } from './suite/views.ts'

/** The contract of the store port. `open` returns an empty store each time. */
function storeSuite(open: Open): void {
  describe('create', () => createCases(open))
  describe('takeOver', () => takeOverCases(open))
  describe('commit', () => commitCases(open))
  describe('documents', () => documentCases(open))
  describe('orders', () => orderCases(open))
  describe('names', () => nameCases(open))
  describe('rankings', () => rankingCases(open))
  describe('lists', () => listCases(open))
  describe('views', () => viewCases(open))
  describe('held views', () => heldCases(open))
  describe('keys', () => keyCases(open))
  describe('usage', () => usageCases(open))
}

describe('sqlite', () =>
  storeSuite(async () => {
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
  }))

/** A loader renews its lease at intervals of its own lease; another loader waits for as long as its lease. */
const LEASE_MS = { own: 1_500, other: 4_500 }

describe.skipIf(elasticsearchUrl() === undefined)('elasticsearch', () =>
  storeSuite(async () => {
    const { reopen, ...opened } = openTestElastic({ leaseMs: LEASE_MS.own })
    return { ...opened, reopen: async () => reopen({ leaseMs: LEASE_MS.other }) }
  }),
)
