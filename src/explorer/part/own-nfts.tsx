/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { getAccountNfts } from '#actions/get-account-nfts.ts'
import { grouped } from '../format/amount.ts'
import type { Html, Visit } from '../page.ts'
import { Card } from './card.tsx'
import { More } from './more.tsx'
import { Name } from './name.tsx'
import { NftName } from './nft-name.tsx'
import { Rows } from './rows.tsx'
import { ChainText } from './text.tsx'

type OwnNftsProps = {
  readonly visit: Visit
  readonly nfts: AnswerOf<typeof getAccountNfts>['nfts']
  readonly total: number
}

/** An owner's most recently received NFTs; empty if it owns none, which is usual. */
export const OwnNfts = ({ visit, nfts, total }: OwnNftsProps): Html => {
  if (total === 0) return ''
  const all = grouped(String(total))
  return (
    <Card visit={visit} id="nfts" title={visit.say({ en: `NFTs: ${all}`, zh: `NFT：${all} 个` })}>
      <Rows
        visit={visit}
        rows={nfts}
        columns={[
          ['Collection', '合集', row => <Name visit={visit} kind="nft" id={row.collection} />],
          [
            'Id',
            '编号',
            row => <NftName visit={visit} collection={row.collection} id={row.token_id} />,
            { place: 'end' },
          ],
          ['Metadata', '元数据', row => <ChainText visit={visit} text={row.metadata} />],
          ['Owned since block', '持有起始区块', row => <Name visit={visit} kind="block" id={row.since_block} />],
        ]}
      />
      <More visit={visit} shown={nfts.length} total={total} />
    </Card>
  )
}
