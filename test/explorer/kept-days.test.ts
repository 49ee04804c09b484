import { expect, setDefaultTimeout, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import type { Store, View } from '#store/port.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { explorerOn } from './served.ts'

// Makes the file of the whole chain where it is not there yet; a test that hangs still ends.
setDefaultTimeout(600_000)

test('pages: where days begin is searched for the first one that a service shows, and for no later one', async () => {
  let reads = 0
  const store = await loadedStore()
  const counted: Store = {
    ...store,
    read: (work, options) =>
      store.read((view: View) => {
        const getMany: View['getMany'] = (index, ids) => {
          if ((index as unknown) === blocks) reads += ids.length
          return view.getMany(index, ids)
        }
        return work({ ...view, getMany })
      }, options),
  }
  /** Blocks read for the last of these pages, which one service shows in this order. */
  const readsOf = async (...paths: readonly string[]) => {
    const { visit } = await explorerOn({}, counted)
    for (const path of paths) {
      reads = 0
      expect((await visit(path)).response.status).toBe(200)
    }
    return reads
  }
  for (const path of ['/account/deadaddr', '/account/admin/iost', '/token/iost']) {
    // What is left are the blocks of its own rows.
    expect(await readsOf(path)).toBeGreaterThan(100)
    expect(await readsOf('/account/admin', path)).toBeLessThan(20)
  }
})
