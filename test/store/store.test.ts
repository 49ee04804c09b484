import { Database } from 'bun:sqlite'
import { describe } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '#store/port.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { elasticsearchUrl, openTestElastic } from '#test/support/stores/elasticsearch.ts'
import { documentCases } from './suite/documents.ts'
import type { Open } from './suite/harness.ts'
import { keyCases } from './suite/keys.ts'
import { listCases } from './suite/lists.ts'
import { rankingCases } from './suite/rankings.ts'
import { viewCases } from './suite/views.ts'
import { writingCases } from './suite/writing.ts'

/** The contract of the store port. `open` returns an empty store each time. */
function storeSuite(open: Open): void {
  describe('writing', () => writingCases(open))
  describe('documents', () => documentCases(open))
  describe('rankings', () => rankingCases(open))
  describe('lists', () => listCases(open))
  describe('views', () => viewCases(open))
  describe('keys', () => keyCases(open))
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
