import type { Ask } from '#actions/ask.ts'
import { getBalances } from '#actions/get-balances.ts'
import { getBlockDetail } from '#actions/get-block-detail.ts'
import { getCollectionDetail } from '#actions/get-collection-detail.ts'
import { getContractDetail } from '#actions/get-contract-detail.ts'
import { getProducerDetail } from '#actions/get-producer-detail.ts'
import { getTokenDetail } from '#actions/get-token-detail.ts'
import { getTransactionDetail } from '#actions/get-transaction-detail.ts'
import type { Text } from '#actions/text.ts'
import { nounFor } from '../format/counted.ts'
import { isoOf } from '../format/time.ts'
import { ifFound } from '../found.ts'
import type { Visit } from '../page.ts'
import type { Match } from './reading.ts'

/** The one fact by which a person recognizes a thing: an amount, a count, or a time. */
export type Fact =
  | { readonly amount: string; readonly of: Text }
  | { readonly iso: string; readonly isFailed?: boolean }

/** Number of matches for which a fact is requested. All accounts need one call, and each other thing needs its own. */
const MOST = 8

/** A fact for each of the first matches, in their order: balance, holders, votes, or time of creation. */
export const factsOf = async (
  visit: Pick<Visit, 'ask'>,
  matches: readonly Match[],
): Promise<readonly (Fact | undefined)[]> => {
  const first = matches.slice(0, MOST)
  const accounts = first.filter(({ type }) => type === 'account').map(({ id }) => id)
  const balances =
    accounts.length === 0
      ? []
      : ((await ifFound(visit.ask(getBalances, { accounts: accounts.join(',') })))?.balances ?? [])
  const byAccount = new Map(balances.flatMap(each => (each === null ? [] : [[each.account, each] as const])))
  return Promise.all(
    first.map(async match => {
      if (match.type !== 'account') return ifFound(factOf(visit, match))
      const found = byAccount.get(match.id)
      return found && { amount: found.balance, of: { en: 'iost', zh: 'iost' } }
    }),
  )
}

const factOf = async ({ ask }: Pick<Visit, 'ask'>, { type, id, status }: Match): Promise<Fact | undefined> => {
  if (type === 'token') {
    const { holder_count } = await ask(getTokenDetail, { token: id })
    return { amount: String(holder_count), of: { en: nounFor(holder_count, 'holder'), zh: '个持有者' } }
  }
  if (type === 'producer') {
    const { votes } = await ask(getProducerDetail, { producer: id })
    return { amount: votes, of: { en: nounFor(votes, 'vote'), zh: '票' } }
  }
  if (type === 'collection') {
    const { issued } = await ask(getCollectionDetail, { collection: id })
    return { amount: String(issued), of: { en: nounFor(issued, 'NFT'), zh: '个 NFT' } }
  }
  if (type === 'contract') return { iso: (await ask(getContractDetail, { contract: id })).created_at }
  if (type === 'block') return { iso: await timeOfBlock(ask, id) }
  // A transaction in the pool has no block, and so no time agreed by the chain.
  if (status === 'PENDING') return undefined
  const { transaction, block_number } = await ask(getTransactionDetail, { tx_hash: id })
  const { status_code } = transaction.tx_receipt
  return {
    // The block's time, as on the transaction's page: the time in the transaction was set by its signer.
    iso: block_number === '-1' ? isoOf(transaction.time) : await timeOfBlock(ask, block_number),
    isFailed: status_code !== undefined && status_code !== 'SUCCESS',
  }
}

const timeOfBlock = async (ask: Ask, number: string): Promise<string> =>
  isoOf((await ask(getBlockDetail, { number })).block.time)
