/** @jsxImportSource @kitajs/html */
import type { Fact } from '../find/facts.ts'
import type { Match } from '../find/reading.ts'
import { visible } from '../format/visible.ts'
import type { Kind } from '../links.ts'
import type { Html, Visit } from '../page.ts'
import { FactText } from './fact-text.tsx'
import { Name } from './name.tsx'
import { type Column, Rows } from './rows.tsx'

const KINDS: ReadonlyMap<string, { readonly kind: Kind; readonly en: string; readonly zh: string }> = new Map([
  ['account', { kind: 'account', en: 'Account', zh: '账户' }],
  ['block', { kind: 'block', en: 'Block', zh: '区块' }],
  ['transaction', { kind: 'tx', en: 'Transaction', zh: '交易' }],
  ['contract', { kind: 'contract', en: 'Contract', zh: '合约' }],
  ['token', { kind: 'token', en: 'Token', zh: '代币' }],
  ['producer', { kind: 'producer', en: 'Producer', zh: '生产者' }],
  ['collection', { kind: 'nft', en: 'NFT collection', zh: 'NFT 合集' }],
])

/** The kind of a match's page, and the name of the kind. */
export const kindOf = (type: string) => KINDS.get(type) ?? { kind: 'account' as const, en: type, zh: type }

type MatchRowsProps = {
  readonly visit: Pick<Visit, 'root' | 'home' | 'lang' | 'say' | 'site'>
  readonly matches: readonly Match[]
  /** The facts of the first matches, in their order. */
  readonly facts?: readonly (Fact | undefined)[]
}

/** A table of things that a text may mean. */
export const MatchRows = ({ visit, matches, facts = [] }: MatchRowsProps): Html => {
  const { say } = visit
  const rows = matches.map((match, at) => ({ ...match, fact: facts[at] }))
  return (
    <Rows
      visit={visit}
      rows={rows}
      none={{ en: 'Nothing has this name, number or hash.', zh: '没有对应此名称、高度或哈希的对象。' }}
      columns={[
        ['Name', '名称', ({ type, id }) => <Name visit={visit} kind={kindOf(type).kind} id={id} isWhole isExplained />],
        ['Kind', '类型', ({ type }) => <span safe>{visible(say(kindOf(type)))}</span>, { place: 'end' }],
        ...(rows.some(({ fact }) => fact !== undefined) ? [factColumn(visit)] : []),
      ]}
    />
  )
}

const factColumn = (visit: MatchRowsProps['visit']): Column<{ readonly fact: Fact | undefined }> => [
  'In brief',
  '概况',
  ({ fact }) => <FactText visit={visit} fact={fact} />,
  { place: 'bare' },
]
