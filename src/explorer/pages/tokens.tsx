/** @jsxImportSource @kitajs/html */
import { getBaseTokenList } from '#actions/get-base-token-list.ts'
import { tokenFile } from '../download/states.ts'
import { grouped } from '../format/amount.ts'
import { counted } from '../format/counted.ts'
import type { Page } from '../page.ts'
import { Count } from '../part/amount.tsx'
import { listPage } from '../part/list-page.tsx'
import { Name, Owner } from '../part/name.tsx'
import { pageGiven } from '../part/pager.tsx'
import { Rows } from '../part/rows.tsx'
import { ChainText } from '../part/text.tsx'
import { Ago } from '../part/time.tsx'

/** All tokens of the chain. */
export const tokensPage: Page = {
  path: '/tokens',
  show: async visit => {
    const { tokens, total } = await visit.ask(getBaseTokenList, pageGiven(visit))
    return listPage(visit, {
      title: { en: 'Tokens', zh: '代币' },
      lead: {
        en: `${counted(total, 'token')}, most holders first.`,
        zh: `共 ${grouped(String(total))} 种代币，按持有者数降序。`,
      },
      description: {
        en: `${counted(total, 'token')} of the IOST chain with holders, issuers and supplies.`,
        zh: `IOST 链上的全部 ${total} 种代币：持有者数、发行者与供应量。`,
      },
      total,
      file: tokenFile,
      table: (
        <Rows
          visit={visit}
          rows={tokens}
          none={{ en: 'No tokens.', zh: '没有代币。' }}
          columns={[
            ['Token', '代币', row => <Name visit={visit} kind="token" id={row.symbol} />],
            ['Full name', '全名', row => <ChainText visit={visit} text={row.full_name} isProse />, { place: 'end' }],
            ['Issuer', '发行者', row => <Owner visit={visit} id={row.issuer} />],
            ['Created', '创建时间', row => <Ago visit={visit} iso={row.created_at} />],
            ['Holders', '持有者数', row => <Count value={row.holder_count} />, { isNumber: true }],
            ['Supply', '供应量', row => <Count value={row.current_supply} />, { isNumber: true }],
          ]}
        />
      ),
    })
  },
}
