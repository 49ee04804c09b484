/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import { getNftDetail } from '#actions/get-nft-detail.ts'
import { getNftHistory } from '#actions/get-nft-history.ts'
import { visible } from '../format/visible.ts'
import { pathOfNft } from '../links.ts'
import { isNarrowed } from '../narrowed.ts'
import type { Html, Page, Visit } from '../page.ts'
import { Card } from '../part/card.tsx'
import { Facts } from '../part/facts.tsx'
import { Made } from '../part/made.tsx'
import { Name, Owner } from '../part/name.tsx'
import { Pager, pageGiven } from '../part/pager.tsx'
import { isRaw, rawHref, rawText } from '../part/raw.tsx'
import { Rows } from '../part/rows.tsx'
import { ChainText } from '../part/text.tsx'
import { Ago } from '../part/time.tsx'

/** An NFT: its owner, its metadata, and all previous owners. */
export const nftPage: Page = {
  path: '/nft/{id}/{part}',
  show: async visit => {
    const { say } = visit
    const given = { collection: visit.id, token_id: visit.part }
    const detail = await visit.ask(getNftDetail, given)
    const name = visible(`${detail.collection} #${detail.token_id}`)
    const title = say({ en: `NFT ${name}`, zh: `NFT 详情：${name}` })
    // The metadata may be hostile, so it is only served as plain text.
    if (isRaw(visit)) return rawText(title, detail.metadata, 'plain')
    const { movements, total } = await visit.ask(getNftHistory, { ...given, ...pageGiven(visit) })
    return {
      title,
      path: pathOfNft(detail.collection, detail.token_id),
      description: say({
        en: `NFT ${name} on IOST: owner, metadata, and each of its movements.`,
        zh: `IOST 上的 NFT ${name}：持有者、元数据与全部转移记录。`,
      }),
      isMinor: isNarrowed(visit, ['page']),
      body: (
        <>
          <h1>
            <small safe>{say({ en: 'NFT', zh: 'NFT 详情' })}</small>
            <bdi safe>{name}</bdi>
          </h1>
          <section class="card">
            <About visit={visit} detail={detail} />
          </section>
          <Card
            visit={visit}
            id="movements"
            title={say({ en: 'Movements, newest first', zh: '转移记录（最新的在前）' })}
          >
            <Moves visit={visit} movements={movements} />
            <Pager visit={visit} total={total ?? 0} />
          </Card>
        </>
      ),
    }
  },
}

type AboutProps = { readonly visit: Visit; readonly detail: AnswerOf<typeof getNftDetail> }

const About = ({ visit, detail }: AboutProps): Html => {
  const { say } = visit
  return (
    <Facts
      facts={[
        [say({ en: 'Owner', zh: '持有者' }), <Owner visit={visit} id={detail.owner} />],
        [say({ en: 'Collection', zh: '合集' }), <Name visit={visit} kind="nft" id={detail.collection} />],
        [
          say({ en: 'Metadata', zh: '元数据' }),
          <ChainText visit={visit} text={detail.metadata} whole={rawHref(visit)} />,
        ],
        [say({ en: 'Issued', zh: '发行时间' }), <Made visit={visit} iso={detail.created_at} tx={detail.tx_hash} />],
      ]}
    />
  )
}

type MovesProps = { readonly visit: Visit; readonly movements: AnswerOf<typeof getNftHistory>['movements'] }

const Moves = ({ visit, movements }: MovesProps): Html => (
  <Rows
    visit={visit}
    rows={movements}
    columns={[
      ['Transaction', '交易', row => <Name visit={visit} kind="tx" id={row.tx_hash} />, { place: 'base' }],
      ['Time', '时间', row => <Ago visit={visit} iso={row.created_at} />, { place: 'base' }],
      [
        'From',
        '转出方',
        ({ from }) =>
          from === '' ? (
            <span class="none" safe>
              {visit.say({ en: 'issued', zh: '发行' })}
            </span>
          ) : (
            <Owner visit={visit} id={from} />
          ),
        { place: 'lead' },
      ],
      ['To', '转入方', row => <Owner visit={visit} id={row.to} />, { place: 'to' }],
    ]}
  />
)
