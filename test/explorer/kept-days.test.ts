import { expect, setDefaultTimeout, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import type { Store, View } from '#store/port.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

test('pages: day starts are searched for the first page that a service shows, and for no later page', async () => {
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
  /** The number of blocks read for the last of these pages. One service shows the pages in this order. */
  const readsOf = async (...paths: readonly string[]) => {
    const { visit } = await explorerOn({}, counted)
    for (const path of paths) {
      reads = 0
      expect((await visit(path)).response.status).toBe(200)
    }
    return reads
  }
  for (const path of ['/account/deadaddr', '/account/admin/iost', '/token/iost']) {
    // A later page only reads the blocks of its own rows.
    expect(await readsOf(path)).toBeGreaterThan(100)
    expect(await readsOf('/account/admin', path)).toBeLessThan(20)
  }
})
