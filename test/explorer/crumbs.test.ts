import { expect, setDefaultTimeout, test } from 'bun:test'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

/** The targets and names of the breadcrumbs of a page; []: the page has none. */
function crumbsOf(html: string): readonly string[] {
  const [, list = ''] = /<nav class="crumbs"[^>]*><ol>(.*?)<\/ol>/s.exec(html) ?? []
  return [...list.matchAll(/<a href="([^"]*)">([^<]*)/g)].map(([, href, name]) => `${name} ${href}`)
}

test('breadcrumbs: the page of a thing links to the list of such things and to the first page, in both languages', async () => {
  const { visit } = await explorerOn()
  for (const [path, crumbs] of [
    ['/block/7', ['Home ../', 'Blocks ../blocks']],
    ['/tx/1', ['Home ../', 'Transactions ../transactions']],
    ['/token/iost', ['Home ../', 'Tokens ../tokens']],
    ['/contract/token.iost', ['Home ../', 'Contracts ../contracts']],
    ['/producer/producer000', ['Home ../', 'Producers ../producers']],
    ['/statistics/votes', ['Home ../', 'Statistics ../statistics']],
    ['/zh/nft/nft_cats/1', ['首页 ../../', 'NFT 合集 ../../nfts', '所属合集 ../../nft/nft_cats']],
    ['/zh/block/7', ['首页 ../', '区块 ../blocks']],
    ['/nft/nft_cats', ['Home ../', 'NFTs ../nfts']],
    ['/nft/a%2Fb/1', ['Home ../../', 'NFTs ../../nfts', 'NFT collection ../../nft/a%2Fb']],
    ['/account/busyhub/iost', ['Home ../../', 'Account ../../account/busyhub']],
    ...['/', '/blocks', '/account/busyhub'].map(each => [each, []] as const),
  ] as const)
    expect([path, crumbsOf((await visit(path)).html)]).toEqual([path, [...crumbs]])
})
