/** @jsxImportSource @kitajs/html */
import { getBlockList } from '#actions/get-block-list.ts'
import { blockFile } from '../download/histories.ts'
import { grouped } from '../format/amount.ts'
import { counted } from '../format/counted.ts'
import type { Page } from '../page.ts'
import { BlockRows } from '../part/block-rows.tsx'
import { listPage } from '../part/list-page.tsx'
import { pageGiven } from '../part/pager.tsx'

/** All blocks. */
export const blocksPage: Page = {
  path: '/blocks',
  show: async visit => {
    const { blocks, total } = await visit.ask(getBlockList, pageGiven(visit))
    return listPage(visit, {
      title: { en: 'Blocks', zh: '区块' },
      lead: {
        en: `${counted(total, 'block')}, newest first.`,
        zh: `共 ${grouped(String(total))} 个区块，最新的在前。`,
      },
      total,
      file: blockFile,
      table: <BlockRows visit={visit} rows={blocks} live="blocks" />,
    })
  },
}
