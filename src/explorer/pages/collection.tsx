/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getCollectionDetail } from '#actions/get-collection-detail.ts'
import { getCollectionNfts } from '#actions/get-collection-nfts.ts'
import { visible } from '../format/visible.ts'
import type { Html, Page, Visit } from '../page.ts'
import { Count } from '../part/amount.tsx'
import { Card } from '../part/card.tsx'
import { Facts } from '../part/facts.tsx'
import { Heading } from '../part/heading.tsx'
import { Made } from '../part/made.tsx'
import { Owner } from '../part/name.tsx'
import { NftName } from '../part/nft-name.tsx'
import { Pager, pageGiven } from '../part/pager.tsx'
import { Rows } from '../part/rows.tsx'
import { ChainText } from '../part/text.tsx'
import { Ago } from '../part/time.tsx'

/** A collection of NFTs: who issues it, and who owns each of its NFTs. */
export const collectionPage: Page = {
  path: '/nft/{id}',
  show: async visit => {
    const { say, id: collection } = visit
    const [detail, { nfts, total }] = await Promise.all([
      visit.ask(getCollectionDetail, { collection }),
      visit.ask(getCollectionNfts, { collection, ...pageGiven(visit) }),
    ])
    const name = visible(detail.collection)
    return {
      title: say({ en: `NFT collection ${name}`, zh: `NFT 合集 ${name}` }),
      description: say({
        en: `NFT collection ${name} on IOST: ${detail.issued} NFTs with their owners, issuer, largest number.`,
        zh: `IOST 上的 NFT 合集 ${name}：${detail.issued} 个 NFT 及其拥有者，发行者与发行上限。`,
      }),
      isMinor: visit.query.size > 0,
      body: (
        <>
          <Heading
            visit={visit}
            kind={say({ en: 'NFT collection', zh: 'NFT 合集' })}
            id={detail.collection}
          />
          <section class="card">
            <About visit={visit} detail={detail} />
          </section>
          <Card
            visit={visit}
            id="nfts"
            title={say({ en: 'NFTs, issued last first', zh: 'NFT 列表（最后发行的在前）' })}
          >
            <Nfts visit={visit} nfts={nfts} />
            <Pager visit={visit} total={total ?? 0} />
          </Card>
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
        [say({ en: 'Maximum supply', zh: '发行上限' }), <Count value={detail.total_supply} />],
        [
          say({ en: 'Created', zh: '创建时间' }),
          <Made visit={visit} iso={detail.created_at} tx={detail.tx_hash} />,
        ],
      ]}
    />
  )
}

type NftsProps = { readonly visit: Visit; readonly nfts: AnswerOf<typeof getCollectionNfts>['nfts'] }

const Nfts = ({ visit, nfts }: NftsProps): Html => (
  <Rows
    visit={visit}
    rows={nfts}
    none={{ en: 'None issued yet.', zh: '尚未发行。' }}
    columns={[
      ['Id', '编号', row => <NftName visit={visit} collection={row.collection} id={row.token_id} />],
      ['Owner', '拥有者', row => <Owner visit={visit} id={row.owner} />, { place: 'end' }],
      ['Metadata', '元数据', row => <ChainText visit={visit} text={row.metadata} />],
      ['Issued', '发行时间', row => <Ago visit={visit} iso={row.created_at} />],
    ]}
  />
)
