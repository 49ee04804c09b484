import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { loadFrom, replayed, temporarySqlite } from '../support/stores/loading.ts'
import { historySuite } from './history.ts'
import { listSuite } from './lists.ts'
import { producerSuite } from './producers.ts'
import { rangeSuite } from './ranges.ts'
import { stateSuite } from './state.ts'

// Loads the whole recorded chain; a test that hangs still ends.
setDefaultTimeout(600_000)

describe('the recorded chain, loaded over HTTP into SQLite', () => {
  let opened: Awaited<ReturnType<typeof temporarySqlite>>
  let service: Service
  let height = -1
  beforeAll(async () => {
    opened = await temporarySqlite()
    const node = await replayed()
    height = await loadFrom(node.url, opened.store)
    await node.stop()
    service = serviceOn(opened.store)
  })
  afterAll(() => opened.destroy())

  test('is whole', () => {
    expect(height).toBe(4851)
  })
  stateSuite(() => service)
  producerSuite(() => service)
  historySuite(() => service)
  listSuite(() => service, { everySizeUpTo: 300, pagesOf20UpTo: Infinity })
  rangeSuite(() => service, { ofBusiest: 60, everyList: 1 })
})
