import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ProofLevel } from '#chain/block.ts'
import type { Store } from '#store/port.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { ARCHIVED, loadFrom, replayed } from '../support/stores/loading.ts'
import { chainListSuite } from './chain-lists.ts'
import { historySuite } from './history.ts'
import { listSuite } from './lists.ts'
import { producerSuite } from './producers.ts'
import { rangeSuite } from './ranges.ts'
import { stateSuite } from './state.ts'

type Opened = { readonly store: Store; destroy(): Promise<void> }

/** The extent of the checks. A request to a server costs a hundred times as much as one to a file. */
type Extent = {
  /** Whether the chain is loaded from an archive. If absent, it is loaded over HTTP from a node. */
  readonly isArchived?: boolean
  /** The proof level of the load. If absent, the default is used. */
  readonly prove?: ProofLevel
  /** Each n-th block and transaction is checked. */
  readonly historyStep?: number
  readonly lists: Parameters<typeof listSuite>[1]
  readonly ranges: Parameters<typeof rangeSuite>[1]
}

/** Tests every answer over the recorded chain, loaded into the store of `open`. Returns a getter of that store. */
export function wholeChainSuite<T extends Opened>(open: () => Promise<T>, extent: Extent): () => T {
  let opened: T
  let service: Service
  let height = -1
  beforeAll(async () => {
    opened = await open()
    const { isArchived = false, prove } = extent
    await using node = isArchived ? undefined : await replayed()
    height = await loadFrom(node?.url ?? ARCHIVED, opened.store, prove === undefined ? {} : { prove })
    service = serviceOn(opened.store)
  })
  afterAll(() => opened.destroy())

  test('all blocks are loaded', () => {
    expect(height).toBe(4851)
  })
  stateSuite(() => service)
  producerSuite(() => service)
  historySuite(() => service, extent.historyStep)
  listSuite(() => service, extent.lists)
  rangeSuite(() => service, extent.ranges)
  chainListSuite(() => service, extent.ranges)
  return () => opened
}
