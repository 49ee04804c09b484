/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getCollectionDetail } from '#actions/get-collection-detail.ts'
import { getCollectionNfts } from '#actions/get-collection-nfts.ts'
import { getCollectionOwners } from '#actions/get-collection-owners.ts'
import { collectionOwnerFile } from '../download/states.ts'
import { counted } from '../format/counted.ts'
import { visible } from '../format/visible.ts'
import { pathOf } from '../links.ts'
import { isNarrowed } from '../narrowed.ts'
import type { Html, Page, Visit } from '../page.ts'
import { Count, Place } from '../part/amount.tsx'
import { Card } from '../part/card.tsx'
import { Facts } from '../part/facts.tsx'
import { Files } from '../part/files.tsx'
import { Heading } from '../part/heading.tsx'
import { Made } from '../part/made.tsx'
import { Owner } from '../part/name.tsx'
import { NftName } from '../part/nft-name.tsx'
import { Pager, pageGiven, rankOf } from '../part/pager.tsx'
import { Rows } from '../part/rows.tsx'
import { Share } from '../part/share.tsx'
import { Tabs } from '../part/tabs.tsx'
import { ChainText } from '../part/text.tsx'
import { Ago } from '../part/time.tsx'

/**
 * A collection of NFTs: its issuer, its NFTs, and its owners with the number of their NFTs. The list of
 * owners has its own pages, `?owners=1`.
 */
export const collectionPage: Page = {
  path: '/nft/{id}',
  show: async visit => {
    const { say, id: collection } = visit
    const isOfOwners = visit.query.has('owners')
    const detail = await visit.ask(getCollectionDetail, { collection })
    const name = visible(detail.collection)
    return {
      path: pathOf('nft', detail.collection),
      title: say({ en: `NFT collection ${name}`, zh: `NFT 合集 ${name}` }),
      description: say({
        en: `NFT collection ${name} on IOST: ${counted(detail.issued, 'NFT')} of ${counted(detail.owner_count, 'owner')}, issuer and maximum supply.`,
        zh: `IOST 上的 NFT 合集 ${name}：${detail.issued} 个 NFT 与 ${detail.owner_count} 个持有者，发行者与最大供应量。`,
      }),
      isMinor: isOfOwners || isNarrowed(visit, ['page']),
      body: (
        <>
          <Heading visit={visit} kind={say({ en: 'NFT collection', zh: 'NFT 合集' })} id={detail.collection} />
          <section class="card">
            <About visit={visit} detail={detail} />
          </section>
          <Tabs
            visit={visit}
            label={say({ en: 'Lists of this collection', zh: '此合集的列表' })}
            path={pathOf('nft', collection)}
            tabs={[
              { name: say({ en: 'NFTs', zh: 'NFT 列表' }) },
              { name: say({ en: 'Owners', zh: '持有者' }), query: 'owners' },
            ]}
          />
          {isOfOwners ? <Owners visit={visit} issued={detail.issued} /> : <Nfts visit={visit} />}
        </>
      ),
    }
  },
}

type AboutProps = { readonly visit: Visit; readonly detail: AnswerOf<typeof getCollectionDetail> }

const About = ({ visit, detail }: AboutProps): Html => {
  const { say } = visit
  return (
    <Facts
      facts={[
        [say({ en: 'Issuer', zh: '发行者' }), <Owner visit={visit} id={detail.issuer} />],
        [say({ en: 'Issued', zh: '已发行' }), <Count value={detail.issued} />],
        [say({ en: 'Owners', zh: '持有者数' }), <Count value={detail.owner_count} />],
        [say({ en: 'Maximum supply', zh: '最大供应量' }), <Count value={detail.total_supply} />],
        [say({ en: 'Created', zh: '创建时间' }), <Made visit={visit} iso={detail.created_at} tx={detail.tx_hash} />],
      ]}
    />
  )
}

const Nfts = async ({ visit }: { readonly visit: Visit }): Promise<string> => {
  const { nfts, total } = await visit.ask(getCollectionNfts, { collection: visit.id, ...pageGiven(visit) })
  return (
    <Card visit={visit} id="nfts" title={visit.say({ en: 'NFTs, newest first', zh: 'NFT 列表（最新发行的在前）' })}>
      <Rows
        visit={visit}
        rows={nfts}
        none={{ en: 'None issued yet.', zh: '尚未发行。' }}
        columns={[
          ['Id', '编号', row => <NftName visit={visit} collection={row.collection} id={row.token_id} />],
          ['Owner', '持有者', row => <Owner visit={visit} id={row.owner} />, { place: 'end' }],
          ['Metadata', '元数据', row => <ChainText visit={visit} text={row.metadata} />],
          ['Issued', '发行时间', row => <Ago visit={visit} iso={row.created_at} />],
        ]}
      />
      <Pager visit={visit} total={total ?? 0} />
    </Card>
  )
}

type OwnersProps = { readonly visit: Visit; readonly issued: number }

const Owners = async ({ visit, issued }: OwnersProps): Promise<string> => {
  const { owners, total } = await visit.ask(getCollectionOwners, {
    collection: visit.id,
    ...pageGiven(visit),
  })
  return (
    <Card
      visit={visit}
      id="owners"
      title={visit.say({ en: 'Owners, most NFTs first', zh: '持有者（按 NFT 数量降序）' })}
    >
      <Files visit={visit} file={collectionOwnerFile} id={visit.id} total={total ?? 0} />
      <Rows
        visit={visit}
        rows={owners.map((row, at) => ({ ...row, rank: rankOf(visit, at) }))}
        none={{ en: 'None issued yet.', zh: '尚未发行。' }}
        columns={[
          ['Rank', '排名', ({ rank }) => <Place value={rank} />],
          ['Owner', '持有者', row => <Owner visit={visit} id={row.account} />, { place: 'lead' }],
          ['NFTs', 'NFT 数量', row => <Count value={row.count} />, { isNumber: true, place: 'end' }],
          [
            'Share of the NFTs',
            '占比',
            row => <Share part={String(row.count)} whole={String(issued)} />,
            { isNumber: true },
          ],
        ]}
      />
      <Pager visit={visit} total={total ?? 0} />
    </Card>
  )
}
