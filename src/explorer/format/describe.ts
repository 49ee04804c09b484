import type { Text } from '#actions/text.ts'
import { grouped } from './amount.ts'
import { counted } from './counted.ts'
import type { Movement } from './movements.ts'
import { outcomeOf } from './outcome.ts'
import { totalsOf } from './total.ts'
import { beginningOf, shortened, visible } from './visible.ts'

// Descriptions of pages for search engines and link previews: the facts of the page in words.

/** Longest name or figure that is written in full. */
const MOST = 64

const written = (text: string): string =>
  beginningOf(text, MOST).isWhole ? visible(text) : visible(shortened(beginningOf(text, 2 * MOST).text))

/** What an owner holds. `name`: safe to display. */
export function describeHoldings(
  name: string,
  balance: Parameters<typeof totalsOf>[0],
  pledges: Parameters<typeof totalsOf>[1],
): Text {
  const all = grouped(totalsOf(balance, pledges).all)
  const [available, frozen, voted] = [balance.balance, balance.frozen_balance.total, balance.vote_balance.total].map(
    grouped,
  )
  return {
    en: `${name} on IOST holds ${all} iost: ${available} available, ${frozen} frozen, ${voted} in votes.`,
    zh: `IOST 上的 ${name} 共持有 ${all} iost：可用 ${available}，冻结 ${frozen}，投票锁定 ${voted}。`,
  }
}

type Described = {
  readonly hash: string
  readonly publisher: string
  readonly tx_receipt: { readonly status_code?: string | undefined }
}

/** How a transaction ended, and its first movement. `movements` undefined: not known yet. */
export function describeTransaction(
  { hash, publisher, tx_receipt: { status_code: code } }: Described,
  movements: readonly Movement[] | undefined,
): Text {
  const outcome = code === undefined ? { en: 'Waiting for a block', zh: '等待打包' } : outcomeOf(code)
  const moved = describeMovements(movements ?? [])
  const by = written(publisher)
  return {
    en: `${written(outcome.en)}: ${moved === undefined ? `by ${by}` : moved.en}. Transaction ${hash} of the IOST chain.`,
    zh: `${written(outcome.zh)}：${moved === undefined ? `由 ${by} 发布` : moved.zh}。IOST 交易 ${hash}。`,
  }
}

function describeMovements([first, ...others]: readonly Movement[]): Text | undefined {
  if (first === undefined) return undefined
  const { en, zh } = describeMovement(first)
  const more = others.length
  return more === 0
    ? { en, zh }
    : { en: `${en}, and ${counted(more, 'more movement')}`, zh: `${zh}，另有 ${more} 笔变动` }
}

function describeMovement(movement: Movement): Text {
  const { from, to } = movement
  const moved = describeThing(movement)
  const [giver, receiver] = [written(from), written(to)]
  if (from === '') return { en: `${moved} issued to ${receiver}`, zh: `向 ${receiver} 发行 ${moved}` }
  if (to === '') return { en: `${moved} of ${giver} destroyed`, zh: `${giver} 销毁 ${moved}` }
  return { en: `${moved} from ${giver} to ${receiver}`, zh: `${giver} 向 ${receiver} 转出 ${moved}` }
}

function describeThing(movement: Movement): string {
  if (!('collection' in movement)) return `${grouped(movement.amount)} ${written(movement.token)}`
  const { collection, nft } = movement
  return nft === undefined ? `NFT ${written(collection)}` : `NFT ${written(collection)} #${written(nft)}`
}
