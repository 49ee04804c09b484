import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Store } from '#store/port.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { dataOf, field } from './answers.ts'
import { historySuite } from './history.ts'
import { listSuite } from './lists.ts'
import { producerSuite, stateSuite } from './state.ts'

type Opened = { readonly store: Store; destroy(): Promise<void> }

/** The extent of the checks. A request to a server costs a hundred times as much as one to a file. */
type Extent = {
  readonly historyStep?: number
  readonly everyOwner?: number
  readonly lists: Parameters<typeof listSuite>[1]
  readonly ranges: Parameters<typeof listSuite>[2]
}

/** Tests every answer over the recorded chain, which the store of `open` contains. Returns a getter of what was opened. */
export function wholeChainSuite<T extends Opened>(open: () => Promise<T>, extent: Extent): () => T {
  let opened: T
  let service: Service
  beforeAll(async () => {
    opened = await open()
    service = serviceOn(opened.store)
  })
  afterAll(() => opened.destroy())

  test('all blocks are loaded', async () => {
    expect(field(await dataOf(service, 'latest-block'), 'block', 'number')).toBe('4851')
  })
  stateSuite(() => service, extent.everyOwner)
  producerSuite(() => service)
  historySuite(() => service, extent.historyStep)
  listSuite(() => service, extent.lists, extent.ranges)
  return () => opened
}
