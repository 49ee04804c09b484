/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import {
  getCollectionDetail,
  getCollectionNfts,
  getCollectionOwners,
  getNftDetail,
  getNftHistory,
} from '#actions/get-nft.ts'
import { collectionOwnerFile } from '../download/downloads.ts'
import { formatCountedNoun } from '../format/amount.ts'
import { revealInvisible } from '../format/text.ts'
import { formatNftPath, formatPagePath, isNarrowed } from '../links.ts'
import type { Html, Page, Props, Visit } from '../page.ts'
import { Ago, Count } from '../part/amount.tsx'
import { ListCard, RANK_COLUMN, rankRows, readGivenPage } from '../part/list.tsx'
import { Heading, Made, Name, NftName, Owner } from '../part/name.tsx'
import { Facts, Tabs } from '../part/section.tsx'
import { Share } from '../part/share.tsx'
import { ChainText, isRaw, rawHref, rawText } from '../part/text.tsx'
import { ISSUED } from '../part/transactions.tsx'

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
    const name = revealInvisible(detail.collection)
    return {
      path: formatPagePath('nft', detail.collection),
      title: say({ en: `NFT collection ${name}`, zh: `NFT 合集 ${name}` }),
      description: say({
        en: `NFT collection ${name} on IOST: ${formatCountedNoun(detail.issued, 'NFT')} of ${formatCountedNoun(detail.owner_count, 'owner')}, issuer and maximum supply.`,
        zh: `IOST 上的 NFT 合集 ${name}：${detail.issued} 个 NFT 与 ${detail.owner_count} 个持有者，发行者与最大供应量。`,
      }),
      isMinor: isOfOwners || isNarrowed(visit, ['page']),
      body: (
        <>
          <Heading visit={visit} kind={say({ en: 'NFT collection', zh: 'NFT 合集' })} id={detail.collection} />
          <section class="card">
            <AboutCollection visit={visit} detail={detail} />
          </section>
          <Tabs
            visit={visit}
            label={say({ en: 'Lists of this collection', zh: '此合集的列表' })}
            path={formatPagePath('nft', collection)}
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

function AboutCollection({ visit, detail }: Props<{ detail: AnswerOf<typeof getCollectionDetail> }>): Html {
  return (
    <Facts
      visit={visit}
      facts={[
        ['Issuer', '发行者', <Owner visit={visit} id={detail.issuer} />],
        ['Issued', '已发行', <Count value={detail.issued} />],
        ['Owners', '持有者数', <Count value={detail.owner_count} />],
        ['Maximum supply', '最大供应量', <Count value={detail.total_supply} />],
        ['Created', '创建时间', <Made visit={visit} iso={detail.created_at} tx={detail.tx_hash} />],
      ]}
    />
  )
}

async function Nfts({ visit }: { readonly visit: Visit }): Promise<string> {
  const { nfts, total } = await visit.ask(getCollectionNfts, { collection: visit.id, ...readGivenPage(visit) })
  return (
    <ListCard
      visit={visit}
      section="nfts"
      title={{ en: 'NFTs, newest first', zh: 'NFT 列表（最新发行的在前）' }}
      total={total ?? 0}
      rows={nfts}
      none={{ en: 'None issued yet.', zh: '尚未发行。' }}
      columns={[
        ['Id', '编号', row => <NftName visit={visit} collection={row.collection} id={row.token_id} />],
        ['Owner', '持有者', row => <Owner visit={visit} id={row.owner} />, 'end'],
        ['Metadata', '元数据', row => <ChainText visit={visit} text={row.metadata} />],
        ['Issued', '发行时间', row => <Ago visit={visit} iso={row.created_at} />],
      ]}
    />
  )
}

async function Owners({ visit, issued }: Props<{ issued: number }>): Promise<string> {
  const { owners, total } = await visit.ask(getCollectionOwners, {
    collection: visit.id,
    ...readGivenPage(visit),
  })
  return (
    <ListCard
      visit={visit}
      section="owners"
      title={{ en: 'Owners, most NFTs first', zh: '持有者（按 NFT 数量降序）' }}
      file={collectionOwnerFile}
      id={visit.id}
      total={total ?? 0}
      rows={rankRows(visit, owners)}
      none={{ en: 'None issued yet.', zh: '尚未发行。' }}
      columns={[
        RANK_COLUMN,
        ['Owner', '持有者', row => <Owner visit={visit} id={row.account} />, 'lead'],
        ['NFTs', 'NFT 数量', row => <Count value={row.count} />, 'digits end'],
        ['Share of the NFTs', '占比', row => <Share part={String(row.count)} whole={String(issued)} />, 'digits'],
      ]}
    />
  )
}

/** An NFT: its owner, its metadata, and all previous owners. */
export const nftPage: Page = {
  path: '/nft/{id}/{part}',
  show: async visit => {
    const { say } = visit
    const given = { collection: visit.id, token_id: visit.part }
    const detail = await visit.ask(getNftDetail, given)
    const name = revealInvisible(`${detail.collection} #${detail.token_id}`)
    const title = say({ en: `NFT ${name}`, zh: `NFT 详情：${name}` })
    // The metadata may be hostile, so it is only served as plain text.
    if (isRaw(visit)) return rawText(title, detail.metadata, 'plain')
    const { movements, total } = await visit.ask(getNftHistory, { ...given, ...readGivenPage(visit) })
    return {
      title,
      path: formatNftPath(detail.collection, detail.token_id),
      description: say({
        en: `NFT ${name} on IOST: owner, metadata, and each of its movements.`,
        zh: `IOST 上的 NFT ${name}：持有者、元数据与全部转移记录。`,
      }),
      isMinor: isNarrowed(visit, ['page']),
      body: (
        <>
          <Heading
            visit={visit}
            kind={say({ en: 'NFT', zh: 'NFT 详情' })}
            alias={`${detail.collection} #${detail.token_id}`}
          />
          <section class="card">
            <AboutNft visit={visit} detail={detail} />
          </section>
          <ListCard
            visit={visit}
            section="movements"
            title={{ en: 'Movements, newest first', zh: '转移记录（最新的在前）' }}
            total={total ?? 0}
            rows={movements}
            columns={[
              ['Transaction', '交易', row => <Name visit={visit} kind="tx" id={row.tx_hash} />, 'base'],
              ['Time', '时间', row => <Ago visit={visit} iso={row.created_at} />, 'base'],
              ['From', '转出方', row => <Owner visit={visit} id={row.from} none={ISSUED} />, 'lead'],
              ['To', '转入方', row => <Owner visit={visit} id={row.to} />, 'to'],
            ]}
          />
        </>
      ),
    }
  },
}

function AboutNft({ visit, detail }: Props<{ detail: AnswerOf<typeof getNftDetail> }>): Html {
  return (
    <Facts
      visit={visit}
      facts={[
        ['Owner', '持有者', <Owner visit={visit} id={detail.owner} />],
        ['Collection', '合集', <Name visit={visit} kind="nft" id={detail.collection} />],
        ['Metadata', '元数据', <ChainText visit={visit} text={detail.metadata} whole={rawHref(visit)} />],
        ['Issued', '发行时间', <Made visit={visit} iso={detail.created_at} tx={detail.tx_hash} />],
      ]}
    />
  )
}
