/** @jsxImportSource @kitajs/html */
import { getBlockList } from '#actions/get-block-list.ts'
import { getOverview } from '#actions/get-overview.ts'
import type { Page } from '../page.ts'
import { Amount, Count } from '../part/amount.tsx'
import { BlockRows } from '../part/block-rows.tsx'
import { Card } from '../part/card.tsx'
import { Figures } from '../part/facts.tsx'

/** The chain at a glance. */
export const homePage: Page = {
  path: '/',
  show: async visit => {
    const { say } = visit
    const [overview, { blocks }] = await Promise.all([
      visit.ask(getOverview),
      visit.ask(getBlockList, { page: '1', size: '10' }),
    ])
    return {
      title: say({ en: 'IOST blockchain explorer', zh: 'IOST 区块链浏览器' }),
      body: (
        <>
          <h1 safe>{say({ en: 'The IOST blockchain', zh: 'IOST 区块链' })}</h1>
          <section class="card">
            <Figures
              facts={[
                [say({ en: 'Irreversible block', zh: '不可逆区块' }), <Count value={overview.lib_block} />],
                [say({ en: 'Head block', zh: '链头区块' }), <Count value={overview.head_block} />],
                [say({ en: 'Accounts', zh: '账户' }), <Count value={overview.account_count} />],
                [say({ en: 'Contracts', zh: '合约' }), <Count value={overview.contract_count} />],
                [say({ en: 'Tokens', zh: '代币' }), <Count value={overview.token_count} />],
                [say({ en: 'Highest tps', zh: '最高 TPS' }), <Count value={overview.highest_tps} />],
                [
                  say({ en: 'Circulating supply', zh: '流通量' }),
                  <Amount visit={visit} value={overview.circulating_supply} token="iost" />,
                ],
                [
                  say({ en: 'Votes', zh: '总票数' }),
                  <Amount visit={visit} value={overview.all_votes} token="iost" />,
                ],
              ]}
            />
          </section>
          <Card title={say({ en: 'Latest blocks', zh: '最新区块' })}>
            <BlockRows visit={visit} rows={blocks} />
          </Card>
        </>
      ),
    }
  },
}
