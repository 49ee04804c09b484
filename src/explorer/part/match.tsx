/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/define.ts'
import type { MatchFact, SearchMatch } from '../find/search.ts'
import { getMatchKind } from '../format/state.ts'
import { revealInvisible } from '../format/text.ts'
import { formatTime } from '../format/time.ts'
import type { Html, Visit } from '../page.ts'
import { Count } from './amount.tsx'
import { Rows } from './list.tsx'
import { Name } from './name.tsx'

type FactTextProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly fact: MatchFact | undefined
  /** The text before a known fact. */
  readonly before?: string
}

/** A fact as a short text: `1,217.6 iost`, `13 holders`, `2026-11-21 09:30:15`. */
export function FactText({ visit: { say }, fact, before = '' }: FactTextProps): Html {
  if (fact === undefined) return ''
  if ('iso' in fact)
    return (
      <>
        <span safe>{before}</span>
        <time datetime={fact.iso} safe>
          {`${formatTime(fact.iso)} UTC`}
        </time>
        {fact.isFailed === true && <span safe>{say({ en: ' · failed', zh: ' · 失败' })}</span>}
      </>
    )
  return (
    <>
      <span safe>{before}</span>
      <Count value={fact.amount} /> <span safe>{say(fact.of)}</span>
    </>
  )
}

/** What the search takes, for pages without what was looked for. */
export const SEARCHED_FORMS: Text = {
  en: 'The search takes names and their beginnings, numbers of blocks, hashes (at least the first 10 characters of a shortened one), full names of tokens, whole names of NFT collections, public keys of producers, and addresses of this and other explorers.',
  zh: '可搜索名称或其开头、区块高度、哈希（缩写至少需前 10 个字符）、代币全名、NFT 合集的完整名称、生产者公钥，以及本浏览器或其他浏览器的网址。',
}

type LastBlockProps = {
  readonly visit: Pick<Visit, 'say' | 'root' | 'home' | 'lang' | 'site'>
  readonly height: number
}

/** The last loaded block, on pages without what was looked for: later blocks cannot be found yet. */
export const LastBlock = ({ visit, height }: LastBlockProps): Html => (
  <p>
    <span safe>{visit.say({ en: 'The last loaded block is ', zh: '最新的已加载区块为 ' })}</span>
    <Name visit={visit} kind="block" id={height} />
    <span safe>{visit.say({ en: '.', zh: '。' })}</span>
  </p>
)

type MatchRowsProps = {
  readonly visit: Pick<Visit, 'root' | 'home' | 'lang' | 'say' | 'site'>
  readonly matches: readonly SearchMatch[]
  /** The facts of the first matches, in their order. */
  readonly facts?: readonly (MatchFact | undefined)[]
}

/** A table of things that a text may mean. */
export function MatchRows({ visit, matches, facts = [] }: MatchRowsProps): Html {
  const { say } = visit
  const rows = matches.map((match, at) => ({ ...match, fact: facts[at] }))
  return (
    <Rows
      visit={visit}
      rows={rows}
      none={{ en: 'Nothing has this name, number or hash.', zh: '没有对应此名称、高度或哈希的对象。' }}
      columns={[
        [
          'Name',
          '名称',
          ({ type, id }) => <Name visit={visit} kind={getMatchKind(type).kind} id={id} isWhole isExplained />,
        ],
        ['Kind', '类型', ({ type }) => <span safe>{revealInvisible(say(getMatchKind(type)))}</span>, 'end'],
        rows.some(({ fact }) => fact !== undefined) && [
          'In brief',
          '概况',
          ({ fact }) => <FactText visit={visit} fact={fact} />,
          'bare',
        ],
      ]}
    />
  )
}
