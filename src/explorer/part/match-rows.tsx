/** @jsxImportSource @kitajs/html */
import type { AnswerOf } from '#actions/ask.ts'
import type { search } from '#actions/search.ts'
import { visible } from '../format/visible.ts'
import type { Kind } from '../links.ts'
import type { Html, Visit } from '../page.ts'
import { Name } from './name.tsx'
import { Rows } from './rows.tsx'

/** A row of search. */
type Match = AnswerOf<typeof search>['matches'][number]

const KINDS: ReadonlyMap<string, { readonly kind: Kind; readonly en: string; readonly zh: string }> = new Map(
  [
    ['account', { kind: 'account', en: 'Account', zh: '账户' }],
    ['block', { kind: 'block', en: 'Block', zh: '区块' }],
    ['transaction', { kind: 'tx', en: 'Transaction', zh: '交易' }],
    ['contract', { kind: 'contract', en: 'Contract', zh: '合约' }],
    ['token', { kind: 'token', en: 'Token', zh: '代币' }],
    ['producer', { kind: 'producer', en: 'Producer', zh: '生产者' }],
  ],
)

/** The kind of page that a match leads to, and what that is called. */
export const kindOf = (type: string) => KINDS.get(type) ?? { kind: 'account' as const, en: type, zh: type }

type MatchRowsProps = {
  readonly visit: Pick<Visit, 'root' | 'lang' | 'say'>
  readonly matches: readonly Match[]
}

/** Things that a text may mean, a line each. */
export const MatchRows = ({ visit, matches }: MatchRowsProps): Html => {
  const { say } = visit
  return (
    <Rows
      visit={visit}
      rows={matches}
      none={{
        en: 'Nothing has this name, number or hash.',
        zh: '没有对应此名称、高度或哈希的对象。',
      }}
      columns={[
        ['Name', '名称', ({ type, id }) => <Name visit={visit} kind={kindOf(type).kind} id={id} isWhole />],
        [
          'Kind',
          '类型',
          ({ type }) => <span safe>{visible(say(kindOf(type)))}</span>,
          {
            place: 'end',
          },
        ],
      ]}
    />
  )
}
