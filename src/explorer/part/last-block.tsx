/** @jsxImportSource @kitajs/html */
import type { Text } from '#actions/text.ts'
import type { Html, Visit } from '../page.ts'
import { Name } from './name.tsx'

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
