import { getAccountBalance } from '#actions/get-account-balance.ts'
import { getAccountDetail } from '#actions/get-account-detail.ts'
import { getBlockDetail } from '#actions/get-block-detail.ts'
import { getTokenDetail } from '#actions/get-token-detail.ts'
import { getTransactionDetail } from '#actions/get-transaction-detail.ts'
import { isAccountName } from '#chain/names.ts'
import { grouped } from '../format/amount.ts'
import type { Movement } from '../format/movements.ts'
import { outcomeOf } from '../format/outcome.ts'
import { ownTransactions } from '../format/own-transactions.ts'
import { ownerKind } from '../format/owner-kind.ts'
import { absolute, isoOf } from '../format/time.ts'
import { totalsOf } from '../format/total.ts'
import { ifFound } from '../found.ts'
import { movementsOf } from '../moved.ts'
import { routeAt } from '../route.ts'
import { type Drawn, type Fact, PICTURE, type Picture } from './picture.ts'

/** The picture of all pages without a picture of their own. */
const HOME: Drawn = {
  kind: 'IOST explorer',
  name: 'iostlens',
  facts: [
    ['Accounts and tokens', 'balances, holders'],
    ['Blocks and transactions', 'told in words'],
  ],
}

const iost = (amount: string): string => `${grouped(amount)} iost`

const accountPicture: Picture = {
  path: `/account/{id}/${PICTURE}`,
  show: async ({ ask, id }) => {
    const balance = await ask(getAccountBalance, { account: id })
    const { name: account, frozen_balance, vote_balance } = balance
    const detail = isAccountName(account) ? await ifFound(ask(getAccountDetail, { account })) : undefined
    return {
      kind: ownerKind(account, detail !== undefined).en,
      name: account,
      facts: [
        ['Available', iost(balance.balance)],
        ['Total', iost(totalsOf(balance, detail?.gas_info.pledged_info ?? []).all)],
        ['Frozen', iost(frozen_balance.total)],
        ['In votes', iost(vote_balance.total)],
      ],
    }
  },
}

const transactionPicture: Picture = {
  path: `/tx/{id}/${PICTURE}`,
  show: async ({ ask, id }) => {
    const { transaction } = await ask(getTransactionDetail, { tx_hash: id })
    const code = transaction.tx_receipt.status_code
    const moved = (await movementsOf({ ask }, [transaction])).get(transaction.hash) ?? []
    return {
      kind: 'Transaction',
      name: transaction.hash,
      facts: [
        ['Status', code === undefined ? 'Waiting for a block' : outcomeOf(code).en],
        ...(moved.length === 0 ? [['By', transaction.publisher] as const] : movedFacts(moved)),
      ],
    }
  },
}

/** The first movement, and the number of further ones. */
const movedFacts = ([first, ...others]: readonly Movement[]): readonly Fact[] =>
  first === undefined
    ? []
    : [
        [others.length === 0 ? 'Moved' : `Moved, and ${others.length} more`, thingOf(first)],
        ['From', first.from === '' ? 'issued' : first.from],
        ['To', first.to === '' ? 'destroyed' : first.to],
      ]

const thingOf = (moved: Movement): string =>
  'collection' in moved
    ? [moved.collection, ...(moved.nft === undefined ? [] : [`#${moved.nft}`])].join(' ')
    : `${grouped(moved.amount)} ${moved.token}`

const blockPicture: Picture = {
  path: `/block/{id}/${PICTURE}`,
  show: async ({ ask, id }) => {
    const given = /^\d+$/.test(id) ? { number: id } : { hash: id }
    const { block, witness_account } = await ask(getBlockDetail, given)
    return {
      kind: 'Block',
      name: grouped(String(block.number)),
      facts: [
        ['Time (UTC)', absolute(isoOf(block.time))],
        ['Producer', witness_account],
        ['Transactions', grouped(String(ownTransactions(block.number, Number(block.tx_count))))],
      ],
    }
  },
}

const tokenPicture: Picture = {
  path: `/token/{id}/${PICTURE}`,
  show: async ({ ask, id }) => {
    const { symbol, current_supply, total_supply, holder_count } = await ask(getTokenDetail, { token: id })
    return {
      kind: 'Token',
      name: symbol,
      facts: [
        ['Supply', grouped(current_supply)],
        ['Maximum supply', grouped(total_supply)],
        ['Holders', grouped(String(holder_count))],
      ],
    }
  },
}

const homePicture: Picture = { path: `/${PICTURE}`, show: async () => HOME }

/** All pictures, in an explicit list. */
export const pictures: readonly Picture[] = [
  ...[accountPicture, transactionPicture, blockPicture, tokenPicture],
  homePicture,
]

/** The path of a page's picture. */
export const pictureOf = (path: string): string => {
  const own = `${path === '/' ? '' : path}/${PICTURE}`
  return routeAt(pictures, own) === undefined ? homePicture.path : own
}
