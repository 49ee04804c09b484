import { expect, setDefaultTimeout, test } from 'bun:test'
import { blocks } from '#indices/block.ts'
import type { Store, View } from '#store/port.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { explorerOn } from './served.ts'

// Makes the file of the whole chain where it is not there yet; a test that hangs still ends.
setDefaultTimeout(600_000)

test('where days begin is searched for the first page, and for no later one', async () => {
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
  const { visit } = await explorerOn({}, counted)
  const readsOf = async (account: string) => {
    reads = 0
    expect((await visit(`/account/${account}`)).response.status).toBe(200)
    return reads
  }
  const first = await readsOf('admin')
  const later = [await readsOf('user_000'), await readsOf('user_001')]
  // The rows and the changes of a page have blocks of their own, at most 20 of each.
  expect(first).toBeGreaterThan(100)
  expect(later.filter(count => count > 40)).toEqual([])
})
