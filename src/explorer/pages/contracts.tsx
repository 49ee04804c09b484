/** @jsxImportSource @kitajs/html */
import { getContractList } from '#actions/get-contract-list.ts'
import { contractFile } from '../download/histories.ts'
import { grouped } from '../format/amount.ts'
import { counted } from '../format/counted.ts'
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
    const { contracts, total } = await visit.ask(getContractList, pageGiven(visit))
    return listPage(visit, {
      title: { en: 'Contracts', zh: '合约' },
      lead: {
        en: `${counted(total, 'contract')}, newest first. Those whose id ends in .iost are system contracts.`,
        zh: `共 ${grouped(String(total))} 个合约，最新的在前；ID 以 .iost 结尾的是系统合约。`,
      },
      total,
      file: contractFile,
      table: (
        <Rows
          visit={visit}
          rows={contracts}
          none={{ en: 'No contracts.', zh: '没有合约。' }}
          columns={[
            ['Contract', '合约', row => <Name visit={visit} kind="contract" id={row.contract_id} />],
            ['Deployed', '部署时间', row => <Ago visit={visit} iso={row.created_at} />, { place: 'end' }],
            ['Publisher', '部署者', row => <Owner visit={visit} id={row.publisher} />],
            ['Records', '记录数', row => <Count value={row.records} />, { isNumber: true }],
          ]}
        />
      ),
    })
  },
}
