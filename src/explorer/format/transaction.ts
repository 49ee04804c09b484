import type { AnswerOf } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import type { getTransactionDetail } from '#actions/get-transaction.ts'
import { parseChainArguments } from '#chain/effects.ts'
import { isContractId } from '#chain/names.ts'
import { computeTotals, formatCountedNoun, formatGrouped } from './amount.ts'
import { describeOutcome } from './outcome.ts'
import type { TransactionMovement } from './record.ts'
import { cutText, cutWord, revealInvisible, shortenName } from './text.ts'

/** The transaction of get-transaction-detail. */
export type TransactionDetail = AnswerOf<typeof getTransactionDetail>['transaction']

/** Whether the actions run later, in a transaction that refers to this one. */
export const isDelayed = ({ delay }: Pick<TransactionDetail, 'delay'>): boolean => Number(delay) > 0

type Done = {
  readonly actions: readonly { readonly contract: string; readonly action_name: string }[]
  readonly tx_receipt: {
    readonly status_code?: string | undefined
    readonly returns?: readonly string[] | undefined
  }
}

/** Ids of contracts that a transaction deployed: each `setCode` returns the id of its contract. */
export function listContractsMade({ actions, tx_receipt }: Done): readonly string[] {
  const { status_code, returns = [] } = tx_receipt
  if (status_code !== 'SUCCESS') return []
  return actions.flatMap(({ contract, action_name }, at) => {
    if (contract !== 'system.iost' || action_name !== 'setCode') return []
    const [id] = parseChainArguments(returns[at] ?? '') ?? []
    return typeof id === 'string' && isContractId(id) ? [id] : []
  })
}

/** The spending limit of an action or a transaction, of one token or of any. */
type SpendingLimit = { readonly token: string; readonly value: string }

const UNLIMITED: Text = { en: 'any amount of ', zh: '不限数量的' }
const ANY: Text = { en: 'any token', zh: '任意代币' }

/** A limit in words: `3 iost`, `any amount of any token`. */
export function limitText({ token, value }: SpendingLimit, say: (text: Text) => string): string {
  const amount = value === 'unlimited' ? say(UNLIMITED) : `${cutWord(value)} `
  return `${amount}${token === '*' ? say(ANY) : cutWord(token)}`
}

// Descriptions of pages for search engines and link previews: the facts of the page in words.

/** Longest name or figure that is written in full. */
const MAX = 64

const shortenText = (text: string): string =>
  cutText(text, MAX).isWhole ? revealInvisible(text) : revealInvisible(shortenName(cutText(text, 2 * MAX).text))

/** What an owner holds. `name`: safe to display. */
export function describeHoldings(
  name: string,
  balance: Parameters<typeof computeTotals>[0],
  pledges: Parameters<typeof computeTotals>[1],
): Text {
  const all = formatGrouped(computeTotals(balance, pledges).all)
  const [available, frozen, voted] = [balance.balance, balance.frozen_balance.total, balance.vote_balance.total].map(
    formatGrouped,
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
  movements: readonly TransactionMovement[] | undefined,
): Text {
  const outcome = code === undefined ? { en: 'Waiting for a block', zh: '等待打包' } : describeOutcome(code)
  const moved = describeMovements(movements ?? [])
  const by = shortenText(publisher)
  return {
    en: `${shortenText(outcome.en)}: ${moved === undefined ? `by ${by}` : moved.en}. Transaction ${hash} of the IOST chain.`,
    zh: `${shortenText(outcome.zh)}：${moved === undefined ? `由 ${by} 发布` : moved.zh}。IOST 交易 ${hash}。`,
  }
}

function describeMovements([first, ...others]: readonly TransactionMovement[]): Text | undefined {
  if (first === undefined) return undefined
  const { en, zh } = describeMovement(first)
  const more = others.length
  return more === 0
    ? { en, zh }
    : { en: `${en}, and ${formatCountedNoun(more, 'more movement')}`, zh: `${zh}，另有 ${more} 笔变动` }
}

function describeMovement(movement: TransactionMovement): Text {
  const { from, to } = movement
  const moved = describeThing(movement)
  const [giver, receiver] = [shortenText(from), shortenText(to)]
  if (from === '') return { en: `${moved} issued to ${receiver}`, zh: `向 ${receiver} 发行 ${moved}` }
  if (to === '') return { en: `${moved} of ${giver} destroyed`, zh: `${giver} 销毁 ${moved}` }
  return { en: `${moved} from ${giver} to ${receiver}`, zh: `${giver} 向 ${receiver} 转出 ${moved}` }
}

function describeThing(movement: TransactionMovement): string {
  if (!('collection' in movement)) return `${formatGrouped(movement.amount)} ${shortenText(movement.token)}`
  const { collection, nft } = movement
  return nft === undefined ? `NFT ${shortenText(collection)}` : `NFT ${shortenText(collection)} #${shortenText(nft)}`
}
