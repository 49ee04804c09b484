import { getContractList } from '#actions/get-contract.ts'
import { getCollectionList } from '#actions/get-nft.ts'
import { getWealthList } from '#actions/get-overview.ts'
import { getProducerList } from '#actions/get-producer.ts'
import { getBaseTokenList } from '#actions/get-token.ts'
import { isContractId } from '#chain/names.ts'
import { formatPagePath, LISTS, toHref } from '../links.ts'
import { LANGUAGES, type Page } from '../page.ts'

/** The first rows of each list: the most relevant pages, and few enough for any search engine. */
const FIRST = { page: '1', size: '100' } as const

/** The addresses for search engines, in both languages. */
export const sitemapPage: Page = {
  path: '/sitemap.xml',
  show: async ({ ask, origin }) => {
    const [{ tokens }, { collections }, { contracts }, { producers }, { wealth }] = await Promise.all([
      ask(getBaseTokenList, FIRST),
      ask(getCollectionList, FIRST),
      ask(getContractList, FIRST),
      ask(getProducerList, FIRST),
      ask(getWealthList, FIRST),
    ])
    const owners = wealth.map(({ account }) => account)
    const paths = [
      '/',
      ...LISTS.map(([path]) => path),
      ...tokens.map(({ symbol }) => formatPagePath('token', symbol)),
      ...collections.map(({ collection }) => formatPagePath('nft', collection)),
      ...contracts.map(({ contract_id }) => formatPagePath('contract', String(contract_id))),
      ...producers.map(({ account }) => formatPagePath('producer', account)),
      ...owners.filter(owner => !isContractId(owner)).map(owner => formatPagePath('account', owner)),
    ]
    const urls = LANGUAGES.flatMap(lang => paths.map(path => new URL(toHref({ root: './', lang }, path), origin).href))
    return {
      title: '',
      type: 'application/xml; charset=utf-8',
      body: [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
        ...urls.map(url => `<url><loc>${url.replaceAll('&', '&amp;').replaceAll("'", '&apos;')}</loc></url>`),
        '</urlset>',
        '',
      ].join('\n'),
    }
  },
}
