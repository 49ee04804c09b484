/** @jsxImportSource @kitajs/html */
import { getBlockList } from '#actions/get-block-list.ts'
import type { Page } from '../page.ts'
import { BlockRows } from '../part/block-rows.tsx'
import { Pager, pageGiven } from '../part/pager.tsx'

/** All blocks. */
export const blocksPage: Page = {
  path: '/blocks',
  show: async visit => {
    const { blocks, total } = await visit.ask(getBlockList, pageGiven(visit))
    const title = visit.say({ en: 'Blocks', zh: '区块' })
    return {
      title,
      isMinor: visit.query.has('page'),
      body: (
        <>
          <h1 safe>{title}</h1>
          <section class="card">
            <BlockRows visit={visit} rows={blocks} live="blocks" />
            <Pager visit={visit} total={total} />
          </section>
        </>
      ),
    }
  },
}
