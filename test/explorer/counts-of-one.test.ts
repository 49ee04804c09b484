import { expect, test } from 'bun:test'
import { fillFromRecording } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { explorerOn } from './served.ts'

const PLURAL =
  /(?<![\d.,-])1 (?:[a-z]+ )*(?:blocks|transactions|tokens|contracts|collections|NFTs|owners|holders|voters|votes|producers|rows|days)\b/g

const BEGINNING = ['/', '/blocks', '/transactions', '/contracts', '/tokens', '/nfts', '/producers', '/wealth']

test('pages of a chain with only genesis use the singular for a count of one', async () => {
  const { store, destroy } = await temporarySqlite()
  await store.create()
  await fillFromRecording(store, { to: 0 })
  const { visit } = await explorerOn({}, store)
  expect((await visit('/blocks')).html).toContain('1 block, newest first.')
  expect((await visit('/transactions')).html).toContain('1 transaction, newest first.')
  expect((await visit('/block/0')).html).toContain(', 1 transaction.')
  const paths = new Set(BEGINNING)
  for (const list of BEGINNING)
    for (const { href, tag } of (await visit(list)).links) {
      const { pathname } = new URL(href, `http://localhost${list}`)
      if (tag === 'a' && /^\/(?:block|tx|token|contract|account|producer|nft|search)/.test(pathname))
        paths.add(pathname)
    }
  paths.add('/search?text=iost')
  const wrong: string[] = []
  for (const path of paths)
    wrong.push(...((await visit(path)).html.match(PLURAL) ?? []).map(text => `${path}: ${text}`))
  expect(wrong).toEqual([])
  expect(paths.size).toBeGreaterThan(20)
  await destroy()
})
