/** @jsxImportSource @kitajs/html */
import { getContractList } from '#actions/get-contract-list.ts'
import { contractFile } from '../download/histories.ts'
import { grouped } from '../format/amount.ts'
import type { Page } from '../page.ts'
import { Count } from '../part/amount.tsx'
import { listPage } from '../part/list-page.tsx'
import { Name, Owner } from '../part/name.tsx'
import { pageGiven } from '../part/pager.tsx'
import { Rows } from '../part/rows.tsx'
import { Ago } from '../part/time.tsx'

/** All deployed contracts. */
export const contractsPage: Page = {
  path: '/contracts',
  show: async visit => {
    const { say } = visit
    const { contracts, total } = await visit.ask(getContractList, pageGiven(visit))
    const title = say({ en: 'Contracts', zh: '合约' })
    return listPage(visit, {
      title,
      lead: say({
        en: `${grouped(String(total))} contracts, newest first. Those whose id ends in .iost are system contracts.`,
        zh: `共 ${grouped(String(total))} 个合约，最新的在前；ID 以 .iost 结尾的是系统合约。`,
      }),
      total,
      file: contractFile,
      table: (
        <Rows
          rows={contracts}
          none={say({ en: 'No contracts.', zh: '没有合约。' })}
          columns={[
            {
              head: say({ en: 'Contract', zh: '合约' }),
              cell: row => <Name visit={visit} kind="contract" id={row.contract_id} />,
            },
            {
              head: say({ en: 'Deployed', zh: '部署时间' }),
              place: 'end',
              cell: row => <Ago visit={visit} iso={row.created_at} />,
            },
            {
              head: say({ en: 'Publisher', zh: '部署者' }),
              cell: row => <Owner visit={visit} id={row.publisher} />,
            },
            {
              head: say({ en: 'Records', zh: '记录数' }),
              isNumber: true,
              cell: row => <Count value={row.records} />,
            },
          ]}
        />
      ),
    })
  },
}
