import type { Text } from '#actions/define.ts'
import type { Visit } from '../page.ts'

/** The purposes of system contracts and accounts. */
const SYSTEM: ReadonlyMap<string, Text> = new Map([
  ['token.iost', { en: 'token contract', zh: '代币合约' }],
  ['token721.iost', { en: 'NFT contract', zh: 'NFT 合约' }],
  ['vote_producer.iost', { en: 'producer elections', zh: '生产者选举' }],
  ['vote.iost', { en: 'votes', zh: '投票' }],
  ['gas.iost', { en: 'gas pledges', zh: 'gas 质押' }],
  ['ram.iost', { en: 'RAM market', zh: 'RAM 市场' }],
  ['auth.iost', { en: 'accounts and permissions', zh: '账户与权限' }],
  ['system.iost', { en: 'contract deployment', zh: '合约部署' }],
  ['base.iost', { en: 'block production', zh: '出块' }],
  ['bonus.iost', { en: 'block rewards', zh: '出块奖励' }],
  ['issue.iost', { en: 'IOST issuance', zh: 'IOST 增发' }],
  ['domain.iost', { en: 'contract domains', zh: '合约域名' }],
  ['exchange.iost', { en: 'transfers that create accounts', zh: '转账并开户' }],
  ['deadaddr', { en: 'burn address', zh: '销毁地址' }],
])

/**
 * The name of an owner or a contract for people: the operator's label, else the purpose of a system contract
 * or account.
 */
type KnownName = { readonly label: Text; readonly by: 'operator' | 'chain' }

/** The known name of an id; undefined: it has none. */
export function findLabel({ site }: Pick<Visit, 'site'>, id: string): KnownName | undefined {
  const given = site.labels.get(id)
  if (given !== undefined) return { label: given, by: 'operator' }
  const own = SYSTEM.get(id)
  return own && { label: own, by: 'chain' }
}

/** A name with its label, for a page's title. */
export function formatTitle({ site, lang }: Pick<Visit, 'site' | 'lang'>, id: string): string {
  const label = site.labels.get(id)
  return label === undefined ? id : `${label[lang]} (${id})`
}

/** Minimum length of a search text: a shorter one is in too many labels. */
const LEAST = 2

/**
 * Names whose label contains a text, in any case, and whether the label is equal to it. Labels that begin
 * with it come first.
 */
export function labelledNames(
  { site }: Pick<Visit, 'site'>,
  text: string,
  most: number,
): readonly { readonly name: string; readonly isWhole: boolean }[] {
  const sought = foldCase(text)
  if (sought.length < LEAST) return []
  const found = [...site.labels].flatMap(([name, { en, zh }]) => {
    const places = [foldCase(en), foldCase(zh)].map(label => ({ at: label.indexOf(sought), label }))
    const hits = places.filter(({ at }) => at >= 0)
    return hits.length === 0
      ? []
      : [
          {
            name,
            isWhole: hits.some(({ label }) => label === sought),
            at: Math.min(...hits.map(({ at }) => at)),
          },
        ]
  })
  return found
    .sort((one, other) => one.at - other.at)
    .slice(0, most)
    .map(({ name, isWhole }) => ({ name, isWhole }))
}

const foldCase = (text: string): string => text.normalize('NFKC').trim().toLowerCase()
