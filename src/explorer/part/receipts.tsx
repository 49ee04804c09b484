/** @jsxImportSource @kitajs/html */
import { partsOfFuncName } from '#chain/effects.ts'
import { visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'
import { Card } from './card.tsx'
import { More } from './more.tsx'
import { Name } from './name.tsx'
import { rawHref } from './raw.tsx'
import { Rows } from './rows.tsx'
import { ChainText } from './text.tsx'

type Receipt = { readonly func_name: string; readonly content: string }

type ReceiptsProps = {
  readonly visit: Visit
  readonly receipts: readonly Receipt[]
  /** Receipts that are shown. */
  readonly most: number
}

/** The receipts that contracts wrote while a transaction ran. */
export const Receipts = ({ visit, receipts, most }: ReceiptsProps): Html => {
  const { say } = visit
  return (
    <Card title={say({ en: 'Receipts', zh: '收据' })}>
      <Rows
        visit={visit}
        rows={receipts.slice(0, most)}
        none={{ en: 'No receipts.', zh: '没有收据。' }}
        columns={[
          ['Written by', '写入者', ({ func_name }) => <Writer visit={visit} func={func_name} />],
          [
            'Content',
            '内容',
            ({ content }) => <ChainText visit={visit} text={content} whole={rawHref(visit)} />,
            { place: 'bare' },
          ],
        ]}
      />
      <More visit={visit} shown={most} total={receipts.length} whole={rawHref(visit)} />
    </Card>
  )
}

const Writer = ({ visit, func }: { readonly visit: Visit; readonly func: string }): Html => {
  const { contract, name } = partsOfFuncName(func)
  return (
    <span class="what">
      <Name visit={visit} kind="contract" id={contract} /> <bdi safe>{visible(name)}</bdi>
    </span>
  )
}
