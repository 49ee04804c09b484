import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test'
import type { ProofLevel } from '#chain/block.ts'
import type { Store } from '#store/port.ts'
import { exampleSuite } from '../actions/examples.ts'
import { explorerSuite } from '../explorer/generated.ts'
import { SOAK } from '../support/processes/soak.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { loadFrom, temporarySqlite } from '../support/stores/loading.ts'
import { inflationSuite, RECEIVERS, receiverSuite } from './inflation-receivers.ts'
import { listSuite } from './lists.ts'
import { serveGenerated } from './serve.ts'
import type { Profile } from './settings.ts'
import { small } from './small.ts'
import { storedSuite } from './stored.ts'
import type { World } from './world.ts'

// Each chain of some hundred blocks is loaded once into a store. All tests of this chain share the store.
setDefaultTimeout(600_000)

type Opening = () => Promise<{ readonly store: Store; destroy(): Promise<void> }>
type Loaded = { readonly store: Store; readonly world: World }

/** Loads the small chain of a profile over HTTP. Returns a getter of the store and the world. */
function loading(
  profile: Profile,
  open: Opening,
  how: { readonly prove?: ProofLevel; readonly to?: number } = {},
): () => Loaded {
  let opened: Awaited<ReturnType<Opening>>
  let world: World
  beforeAll(async () => {
    opened = await open()
    const node = serveGenerated(small(profile))
    world = node.chain.world
    expect(await loadFrom(node.url, opened.store, how)).toBe(how.to ?? node.chain.settings.blocks)
    await node.stop()
  })
  afterAll(() => opened?.destroy())
  return () => ({ store: opened.store, world })
}

/** What pages, files and feeds read from Elasticsearch is compared in long runs. */
function asked(store: () => Store, isWhole: boolean, end?: number): void {
  describe('lists', () => listSuite(store, end))
  describe('inflation', () => inflationSuite(store, end))
  if (!isWhole) return
  describe('receivers of inflation', () => receiverSuite(store, RECEIVERS))
  describe('explorer', () => explorerSuite(store))
}

// The texts of the busy chain are proved, too, since it contains every kind of transaction.
describe('a busy generated chain in SQLite', () =>
  storedSuite('busy', loading('busy', temporarySqlite, { prove: 'whole' })))

describe('a sparse generated chain in SQLite', () => storedSuite('sparse', loading('sparse', temporarySqlite)))

describe('a mixed generated chain in SQLite', () => {
  const loaded = loading('mixed', temporarySqlite)
  storedSuite('mixed', loaded)
  exampleSuite(() => loaded().store)
  asked(() => loaded().store, true)
})

describe.skipIf(elasticsearchUrl() === undefined)('a mixed generated chain in Elasticsearch', () => {
  const to = SOAK ? small('mixed').blocks : 420
  const loaded = loading('mixed', async () => openTestElastic({ leaseMs: 15_000 }), { prove: 'linked', to })
  asked(() => loaded().store, SOAK, to)
})
