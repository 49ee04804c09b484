/** @jsxImportSource @kitajs/html */
import { search } from '#actions/search.ts'
import { type Kind, pathOf } from '../links.ts'
import type { Page, Visit } from '../page.ts'
import { Card } from '../part/card.tsx'
import { Name } from '../part/name.tsx'
import { Rows } from '../part/rows.tsx'
import { ChainText } from '../part/text.tsx'

const KINDS: Readonly<Record<string, { readonly kind: Kind; readonly en: string; readonly zh: string }>> = {
  account: { kind: 'account', en: 'Account', zh: '账户' },
  block: { kind: 'block', en: 'Block', zh: '区块' },
  transaction: { kind: 'tx', en: 'Transaction', zh: '交易' },
  contract: { kind: 'contract', en: 'Contract', zh: '合约' },
  token: { kind: 'token', en: 'Token', zh: '代币' },
  producer: { kind: 'producer', en: 'Producer', zh: '生产者' },
}

const kindOf = (type: string) => KINDS[type] ?? { kind: 'account' as const, en: type, zh: type }

/** What a text names: the page of the one thing that it names exactly, or a list. */
export const searchPage: Page = {
  path: '/search',
  show: async (visit: Visit) => {
    const { say, query } = visit
    const text = (query.get('text') ?? '').trim()
    const { matches } = await visit.ask(search, { text })
    const exact = matches.filter(match => match.exact)
    const [only] = exact
    if (only !== undefined && exact.length === 1) return { to: pathOf(kindOf(only.type).kind, only.id) }
    return {
      title: say({ en: `Search: ${text}`, zh: `搜索：${text}` }),
      isMinor: true,
      body: (
        <Card title={say({ en: 'What this may be', zh: '可能的结果' })}>
          <p>
            <ChainText visit={visit} text={text} />
          </p>
          <Rows
            rows={matches}
            none={say({
              en: 'Nothing has this name, number or hash.',
              zh: '没有对应此名称、高度或哈希的对象。',
            })}
            columns={[
              {
                head: say({ en: 'Kind', zh: '类型' }),
                cell: ({ type }) => <span safe>{say(kindOf(type))}</span>,
              },
              {
                head: say({ en: 'Name', zh: '名称' }),
                cell: ({ type, id }) => <Name visit={visit} kind={kindOf(type).kind} id={id} isWhole />,
              },
            ]}
          />
        </Card>
      ),
    }
  },
}
