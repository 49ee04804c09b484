/** @jsxImportSource @kitajs/html */
import { getCollectionList } from '#actions/get-collection-list.ts'
import { collectionFile } from '../download/states.ts'
import { grouped } from '../format/amount.ts'
import { counted } from '../format/counted.ts'
import type { Page } from '../page.ts'
import { Count } from '../part/amount.tsx'
import { listPage } from '../part/list-page.tsx'
import { Name, Owner } from '../part/name.tsx'
import { pageGiven } from '../part/pager.tsx'
import { Rows } from '../part/rows.tsx'
import { Ago } from '../part/time.tsx'

/** All collections of NFTs. */
export const collectionsPage: Page = {
  path: '/nfts',
  show: async visit => {
    const { collections, total } = await visit.ask(getCollectionList, pageGiven(visit))
    return listPage(visit, {
      title: { en: 'NFT collections', zh: 'NFT 合集' },
      lead: {
        en: `${counted(total, 'collection')}, most NFTs first.`,
        zh: `共 ${grouped(String(total))} 个合集，按已发行的 NFT 数量降序。`,
      },
      description: {
        en: `${counted(total, 'NFT collection')} of the IOST chain with issuers, NFTs and owners.`,
        zh: `IOST 链上的全部 ${total} 个 NFT 合集：发行者、NFT 数量与持有者数。`,
      },
      total,
      file: collectionFile,
      table: (
        <Rows
          visit={visit}
          rows={collections}
          none={{ en: 'No NFTs.', zh: '没有 NFT。' }}
          columns={[
            ['Collection', '合集', row => <Name visit={visit} kind="nft" id={row.collection} />],
            ['Issuer', '发行者', row => <Owner visit={visit} id={row.issuer} />],
            ['Created', '创建时间', row => <Ago visit={visit} iso={row.created_at} />],
            ['NFTs', 'NFT 数量', row => <Count value={row.issued} />, { isNumber: true, place: 'end' }],
            ['Owners', '持有者数', row => <Count value={row.owner_count} />, { isNumber: true }],
          ]}
        />
      ),
    })
  },
}
