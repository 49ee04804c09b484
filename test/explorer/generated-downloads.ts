import { beforeAll, expect, test } from 'bun:test'
import type { Store } from '#store/port.ts'
import { expectCells, expectFile } from './expect-files.ts'
import { type Explorer, explorerOn } from './served.ts'

/** Files that pages offer, on a store with a chain other than the recorded one. */
export function downloadSuite(store: () => Store): void {
  let own: Explorer
  beforeAll(async () => {
    own = await explorerOn({ isKeyless: true }, store())
  })

  test('files have every row, and changes that add up', async () => {
    const wealth = await own.list('base/get-wealth-list', { size: '5' })
    for (const { account } of wealth) await expectFile(own, account)
    expect(wealth.length).toBe(5)
  })

  test('files of lists of state and of history match the rows of the API, cell by cell', async () => {
    for (const path of ['/wealth.csv', '/token/iost/holders.csv', '/blocks.csv', '/contracts.csv'])
      expect(await expectCells(own, path)).toBeGreaterThan(0)
  })
}
