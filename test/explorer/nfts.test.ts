import { expect, test } from 'bun:test'
import { plainItems, sharesOf } from '#test/support/oracle/items.ts'
import { explorerOn } from './served.ts'

const explorer = await explorerOn()

const nftsOn = (links: readonly { readonly href: string }[]): readonly string[] =>
  links.flatMap(({ href }) => /nft\/([^/?]+\/\d+)$/.exec(href)?.[1] ?? [])

test("an account's page shows its NFTs and their number, and nothing about NFTs if it owns none", async () => {
  const { items } = await plainItems()
  for (const owner of ['12345', '__proto__', 'constructor']) {
    const own = [...items].filter(([, item]) => item.owner === owner).map(([id]) => id)
    const { text, links } = await explorer.visit(`/account/${owner}`)
    expect(nftsOn(links).toSorted()).toEqual(own.toSorted())
    expect(text).toContain(`NFTs: ${own.length}`)
  }
  const { html, links } = await explorer.visit('/account/admin')
  expect([nftsOn(links), html.includes('NFTs: ')]).toEqual([[], false])
})

test('transactions show the NFTs that they issued and moved, and receivers have them among their records', async () => {
  const { movements } = await plainItems()
  let [issued, given] = [0, 0]
  for (const { id, from, to, hash, height } of movements) {
    const [collection = '', number] = id.split('/')
    const { links, text } = await explorer.visit(`/tx/${hash}`)
    expect([hash, nftsOn(links)]).toEqual([hash, expect.arrayContaining([id])])
    expect(text).not.toContain('No tokens moved')
    const transactions = await explorer.list('account/get-account-tx', {
      ...{ account: to, size: '500', start_block: String(height), end_block: String(height) },
    })
    const row = transactions.find(each => each['tx_hash'] === hash && each['collection'] === collection)
    expect([hash, row?.['token_id']]).toEqual([hash, number])
    if (from === '') issued += 1
    else given += 1
  }
  expect([issued, given].every(count => count > 5)).toBe(true)
})

test("a collection's page shows its NFTs with their owners, the one issued last first", async () => {
  const { items } = await plainItems()
  const { html, links, text } = await explorer.visit('/nft/nft_dogs')
  expect(nftsOn(links)).toEqual([4, 3, 2, 1, 0].map(number => `nft_dogs/${number}`))
  for (const number of [0, 1, 2, 3, 4]) expect(html).toContain(`account/${items.get(`nft_dogs/${number}`)?.owner}"`)
  expect(text).toContain('5 rows')
})

test("the list of all collections is linked in every page header, and a collection's page shows the number of NFTs per owner", async () => {
  const { items, collections } = await plainItems()
  const { text, links } = await explorer.visit('/nfts')
  const listed = links.flatMap(({ href }) => /^nft\/([^/?]+)$/.exec(href)?.[1] ?? [])
  expect(listed).toEqual([...collections].toSorted(([, a], [, b]) => b - a).map(([symbol]) => symbol))
  expect(text).toContain(`${collections.size} collections, most NFTs first.`)
  expect((await explorer.visit('/')).links.map(({ href }) => href)).toContain('nfts')
  const { html } = await explorer.visit('/nft/nft_cats?owners=1')
  const owners = [...sharesOf(items).keys()].filter(share => share.startsWith('nft_cats/'))
  for (const share of owners) expect(html).toContain(`account/${share.slice('nft_cats/'.length)}"`)
})

test("an NFT's page shows its owner, its metadata and every previous owner", async () => {
  const { items } = await plainItems()
  for (const [id, { owner, metadata, moves }] of items) {
    const { html, text } = await explorer.visit(`/nft/${id}`)
    const parties = moves.flatMap(({ from, to }) => (from === '' ? [to] : [from, to]))
    for (const party of [owner, ...parties]) expect([id, html.includes(`account/${party}"`)]).toEqual([id, true])
    expect(text.replaceAll('&#34;', '"').replaceAll('&quot;', '"')).toContain(metadata)
    expect(text).toContain(moves.length === 1 ? '1 row' : `${moves.length} rows`)
  }
})

test('a missing or impossible NFT or collection is not found', async () => {
  const odd = ['NFT', 'nft_dogs/x', '__proto__', '__proto__/0', 'nft_dogs/0/1']
  for (const path of ['nft_dogs/5', 'nosuch', 'nosuch/0', ...odd])
    for (const lang of ['', '/zh']) {
      const { response } = await explorer.visit(`${lang}/nft/${path}`)
      expect([path, response.status]).toEqual([path, 404])
    }
})
