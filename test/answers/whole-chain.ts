import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ProofLevel } from '#chain/proof.ts'
import type { Store } from '#store/port.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { ARCHIVED, loadFrom, replayed } from '../support/stores/loading.ts'
import { chainListSuite } from './chain-lists.ts'
import { exploreSuite } from './explore.ts'
import { historySuite } from './history.ts'
import { listSuite } from './lists.ts'
import { producerSuite } from './producers.ts'
import { rangeSuite } from './ranges.ts'
import { severalSuite } from './several.ts'
import { stateSuite } from './state.ts'

type Opened = { readonly store: Store; destroy(): Promise<void> }

/** How much is asked for: a request to a server costs a hundred times what it costs in a file. */
export type Extent = {
  /** Loaded from an archive; absent: over HTTP from a node. */
  readonly isArchived?: boolean
  /** How far blocks are proved when they are loaded; absent: as usual. */
  readonly prove?: ProofLevel
  /** Each so many blocks and transactions. */
  readonly historyStep?: number
  readonly lists: Parameters<typeof listSuite>[1]
  readonly ranges: Parameters<typeof rangeSuite>[1]
}

/** Every answer over the recorded chain, loaded into the store that `open` gives; that store, once it is loaded. */
export const wholeChainSuite = <T extends Opened>(open: () => Promise<T>, extent: Extent): (() => T) => {
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

  test('is whole', () => {
    expect(height).toBe(4851)
  })
  stateSuite(() => service)
  producerSuite(() => service)
  exploreSuite(() => service)
  historySuite(() => service, extent.historyStep)
  listSuite(() => service, extent.lists)
  rangeSuite(() => service, extent.ranges)
  severalSuite(() => service)
  chainListSuite(() => service, extent.ranges)
  return () => opened
}
