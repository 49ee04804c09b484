import { Type } from '@sinclair/typebox'
import { formatUnits } from '#chain/amount.ts'
import { formatDate } from '#chain/time.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { applyVoteEntry, type Held, parseVotes, seriesOf } from '#indices/series.ts'
import { tokens } from '#indices/token.ts'
import type { View } from '#store/port.ts'
import { openBook } from './books/open-book.ts'
import { type Context, defineAction } from './define.ts'
import { listStepHeights, requestedSteps } from './find/days.ts'
import { createStepListing, type Listing, type Numbered } from './find/listing.ts'
import { toNull, unknown } from './find/loading.ts'
import { numberedRows } from './find/numbered.ts'
import { findOwners, resolveOwner } from './find/owner.ts'
import { findMoment } from './find/point.ts'
import { NO_FLOWS, openChangeList, readFlows, readHeld, type SeriesChange } from './find/series.ts'
import { defineList } from './list/paging.ts'
import { csvLayout } from './request/options.ts'
import { owner, paging, sort, token, tokenAs } from './request/parameter-types.ts'
import { defineListParameter } from './request/query.ts'
import {
  checkPoint,
  checkRange,
  checkSteps,
  computeStepBounds,
  point,
  type RangeOfSteps,
  range,
  type Step,
  step,
} from './request/range.ts'
import { badRequest } from './request/refusals.ts'
import { balanceChangeRows, changeFields, changeRows, createChangeBookings } from './shape/changes.ts'
import { ballot, readBallots } from './shape/holdings.ts'
import {
  defineRows,
  described,
  exact,
  numberedLists,
  pointFields,
  pointShown,
  shape,
  stepFields,
  text,
} from './shape/results.ts'
import { toIost } from './shape/values.ts'

const frozen = shape({
  total: exact('Sum of the list, in IOST.', '列表合计（IOST）。'),
  list: defineRows(
    shape({
      amount: exact('IOST.', '数量（IOST）。'),
      time: text(
        'Time when the amount becomes available, nanoseconds since 1970.',
        '解冻时间（自 1970 年起的纳秒数）。',
      ),
    }),
    'Amounts still frozen, in the order they were received.',
    '仍处于冻结状态的金额，按收到的先后排列。',
  ),
})
const locked = shape({
  total: exact('Sum of the list, in IOST.', '列表合计（IOST）。'),
  list: defineRows(ballot, 'Producers the account votes for.', '账户所投的生产者。'),
})

/** IOST of an owner: available, frozen and locked in votes. */
export const getAccountBalance = defineAction({
  module: 'account',
  action: 'get-account-balance',
  title: { en: 'Account balance', zh: '账户余额' },
  summary: {
    en: 'IOST balance of an account, a contract, a public key that owns tokens, or 0: available, frozen and locked in votes. Frozen amounts that are due count as available. Votes are sorted by amount, largest first, then by producer. With at_block or at_time all of it is as it was at that point.',
    zh: '账户、合约、持有代币的公钥或 0 的 IOST 余额：可用、冻结、投票锁定。已到期的冻结金额计入可用余额。投票按票数从大到小排列，票数相同时按生产者名称排列。提供 at_block 或 at_time 时，所有数值均为当时的状态。',
  },
  params: Type.Object({ account: owner(), ...point }),
  check: checkPoint,
  result: shape({
    name: text('Name of the account or other owner.', '账户或其他持有者的名称。'),
    balance: exact('Available IOST.', '可用的 IOST。'),
    frozen_balance: described(frozen, 'Frozen IOST that is not due yet.', '尚未到期的冻结 IOST。'),
    vote_balance: described(locked, 'IOST locked in votes for producers.', '投票锁定的 IOST。'),
    ...pointFields,
  }),
  run: async (context, { account, ...asked }) => {
    const { view } = context
    const [name, then] = await Promise.all([resolveOwner(context, account), findMoment(context, asked)])
    const [held, { total, ballots }] = await Promise.all([
      then === undefined ? readCurrentIost(view, name) : readHeld(view, balanceId('iost', name), then.height),
      readBallots(view, name, then),
    ])
    return {
      name,
      balance: toIost(held.available),
      frozen_balance: {
        total: toIost(held.frozen),
        list: held.list.map(([amount, time]) => ({ amount: toIost(BigInt(amount)), time })),
      },
      vote_balance: { total: toIost(total), list: ballots },
      ...pointShown(then),
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub' },
})

async function readCurrentIost(view: View, owner: string): Promise<Held> {
  const balance = await view.get(balances, balanceId('iost', owner))
  return {
    available: balance?.amount ?? 0n,
    frozen: balance?.frozen ?? 0n,
    list: balance?.frozen_list ?? [],
  }
}

const MAX_BALANCES = 500

const entry = shape({
  account: text('Name of the account or other owner.', '账户或其他持有者的名称。'),
  token: Type.Optional(text('Token symbol; only with tokens.', '代币符号；仅在使用 tokens 时出现。')),
  balance: text('Available balance, in token units.', '可用余额（代币单位）。'),
  frozen_balance: text('Frozen balance that is not due yet, in token units.', '尚未到期的冻结余额（代币单位）。'),
})

/** The balances of several owners at one height. */
export const getBalances = defineAction({
  module: 'account',
  action: 'get-balances',
  title: { en: 'Balances of several accounts', zh: '多个账户的余额' },
  summary: {
    en: `Balances of one token, or of several with tokens, for up to 50 accounts, all of the same block. There is one entry for each account, in the order requested; an account that never occurred on the chain gives null. With tokens there is one entry for each account and token, the tokens of an account in the order requested, at most ${MAX_BALANCES} in all. An account that never had the token has 0. Frozen amounts that are due count as available. Also accepts contract ids, public keys that own tokens, and 0.`,
    zh: `一次查询最多 50 个账户的某一代币余额，或以 tokens 查询多种代币的余额，全部取自同一区块。每个账户一项，按请求的顺序排列；使用 tokens 时每个账户的每种代币一项，同一账户的代币按请求的顺序排列，总计最多 ${MAX_BALANCES} 项。从未在链上出现过的账户为 null，从未持有该代币的账户余额为 0。已到期的冻结金额计入可用余额。也可使用合约 ID、持有代币的公钥和 0。`,
  },
  params: Type.Object({
    accounts: defineListParameter(owner(), {
      description: {
        en: 'Account names, up to 50, joined by commas; a name may occur more than once.',
        zh: '账户名，最多 50 个，以英文逗号分隔；可重复。',
      },
      example: 'busyhub,tokenboss,deadaddr',
      sample: 'accounts',
      foreignNames: ['account', 'addresses', 'address', 'names', 'owners', 'users'],
    }),
    token: Type.Optional(
      tokenAs({
        en: 'Token name (symbol); iost if neither token nor tokens is given.',
        zh: '代币名称（符号）；token 与 tokens 均未提供时为 iost。',
      }),
    ),
    tokens: Type.Optional(
      defineListParameter(token(), {
        description: {
          en: 'Token symbols, up to 50, joined by commas; instead of token.',
          zh: '代币符号，最多 50 个，以英文逗号分隔；用于代替 token。',
        },
        example: 'iost,ram',
        foreignNames: ['symbols', 'contracts'],
      }),
    ),
  }),
  check: ({ accounts, token: symbol, tokens: symbols }) => {
    if (symbols === undefined) return
    if (symbol !== undefined)
      throw badRequest(
        {
          en: `Parameters 'token' (${symbol}) and 'tokens' cannot be combined: name all tokens in 'tokens'.`,
          zh: `参数 'token'（${symbol}）与 'tokens' 不能同时使用：请在 'tokens' 中列出所有代币。`,
        },
        { parameter: 'token' },
      )
    if (accounts.length * symbols.length > MAX_BALANCES)
      throw badRequest(
        {
          en: `${accounts.length} accounts with ${symbols.length} tokens are ${accounts.length * symbols.length} balances; a call returns at most ${MAX_BALANCES}. Name fewer accounts or tokens.`,
          zh: `${accounts.length} 个账户与 ${symbols.length} 种代币共 ${accounts.length * symbols.length} 项余额，一次查询最多 ${MAX_BALANCES} 项；请减少账户或代币。`,
        },
        { parameter: 'tokens' },
      )
  },
  result: shape({
    balances: defineRows(
      Type.Union([entry, Type.Null()]),
      'An entry for each account, in the order requested; null for a name that never occurred.',
      '每个账户一项，按请求的顺序排列；从未出现过的名称为 null。',
    ),
  }),
  run: async (context, { accounts, token: symbol = 'iost', tokens: several }) => {
    const { view } = context
    const symbols = several ?? [symbol]
    const decimals = await requireDecimals(context, symbols)
    const owners = await findOwners(view, accounts)
    const pairs = [...new Set(owners.values())].flatMap(name => symbols.map(each => balanceId(each, name)))
    const ids = [...new Set(pairs)]
    const docs = await view.getMany(balances, ids)
    const byId = new Map(ids.map((id, at) => [id, docs[at]]))
    return {
      balances: accounts.flatMap(given => {
        const account = owners.get(given)
        return symbols.map(each => {
          if (account === undefined) return toNull(unknown(context, 'account', given))
          const doc = byId.get(balanceId(each, account))
          const decimal = decimals.get(each) ?? 0
          return {
            account,
            ...(several !== undefined ? { token: each } : {}),
            balance: formatUnits(doc?.amount ?? 0n, decimal),
            frozen_balance: formatUnits(doc?.frozen ?? 0n, decimal),
          }
        })
      }),
    }
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { accounts: 'busyhub,tokenboss,deadaddr' },
})

/** Decimal places by token. Throws 'not_found' for a token that never existed. */
async function requireDecimals(context: Context, symbols: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = await context.view.getMany(tokens, symbols)
  return new Map(
    symbols.map((symbol, at) => {
      const doc = found[at]
      if (doc === undefined) throw unknown(context, 'token', symbol)
      return [symbol, doc.decimal] as const
    }),
  )
}

const textOrNull = (en: string, zh: string) => described(Type.Union([Type.String(), Type.Null()]), en, zh)

const balanceChangeFields = {
  ...changeFields,
  tx_hash: textOrNull(
    'Transaction hash; null for a release. A contribute and inflation have that of the base transaction of their block.',
    '交易哈希；解冻时为 null。出块奖励与增发为所在区块的base 交易的哈希。',
  ),
  action: text(
    'Cause of the change: transfer, transferFreeze, issue, destroy; contribute (the reward for a block); ram (used or given back); release (a frozen amount came due).',
    '变动来源：transfer、transferFreeze、issue、destroy；contribute（出块奖励）；ram（占用或退还 RAM）；release（冻结金额到期）。',
  ),
  counterparty: textOrNull('The other party; null where there is none.', '对方；没有时为 null。'),
  memo: textOrNull('Memo of a transfer; null for anything else.', '转账备注；其他变动为 null。'),
  change: text(
    'Change of available and frozen together, in token units; 0 for a release and for an own amount that is frozen.',
    '可用与冻结合计的变动（代币单位）；解冻以及为自己冻结时为 0。',
  ),
  balance: text('Available balance after the change, in token units.', '变动后的可用余额（代币单位）。'),
  frozen: text('Frozen balance after the change, in token units.', '变动后的冻结余额（代币单位）。'),
}
const stepRow = shape({
  ...stepFields,
  opening: text(
    'Only with step: available and frozen at its beginning, in token units.',
    '仅在使用 step 时返回：期初的可用与冻结合计（代币单位）。',
  ),
  in: text(
    'Only with step: sum of all increases in it, in token units.',
    '仅在使用 step 时返回：期间流入合计（代币单位）。',
  ),
  out: text(
    'Only with step: sum of all decreases in it, without the sign, in token units.',
    '仅在使用 step 时返回：期间流出合计，不带负号（代币单位）。',
  ),
  closing: text(
    'Only with step: available and frozen at its end, in token units: opening + in - out.',
    '仅在使用 step 时返回：期末的可用与冻结合计（代币单位），即 opening + in - out。',
  ),
})
const changesTitle = { en: 'Changes of this page.', zh: '变动列表。' }

export const getBalanceHistory = defineList({
  module: 'account',
  action: 'get-balance-history',
  title: { en: 'Balance of an account over time', zh: '账户余额历史' },
  summary: {
    en: 'Every change of the balance of a token that an owner has (iost if none is given), newest first, with its cause and the balance after it; sort=asc returns the exact reverse. With step, the rows are UTC days, weeks or months instead, newest first, those without a change included, at most 400: the balance at its beginning, the sums received and spent, and the balance at its end, available and frozen together. Weeks and months are whole, also where start_date or end_date is within one; with blocks or times, the first and the last of them have the figures of their part within the range. Without a start they are those of the last 30 days. A frozen amount that comes due is a row of its own with the change 0, and so is an amount that an owner freezes for itself (transferFreeze to oneself); a transfer to oneself changes nothing and has no row.',
    zh: '持有者某一代币（默认 iost）余额的全部变动，最新的在前，包括变动来源与变动后的余额；sort=asc 时顺序完全相反。提供 step 时改为按 UTC 日、周或月返回，最新的在前，没有变动的也包括在内，最多 400 行：期初、流入、流出与期末数量（可用与冻结合计）。周与月总是完整的，即使 start_date 或 end_date 在其中间；以区块或时间限定时，首尾两个周期只含区间内部分的数值。不提供起点时为涵盖最近 30 天的各个周期。冻结金额到期、或持有者为自己冻结一笔金额（向自己 transferFreeze）时单独列为一行，变动为 0；转给自己不产生变动，不列出。',
  },
  params: Type.Object({
    account: owner(),
    token: Type.Optional(token()),
    step: Type.Optional(step()),
    ...paging,
    sort: sort(),
    ...range,
    csv: csvLayout('koinly', 'ledger'),
  }),
  check: requested => {
    checkRange(requested)
    checkSteps(requested)
  },
  ...numberedLists('changes', balanceChangeFields, { ...changesTitle, rowFrom: row => Type.Union([row, stepRow]) }),
  list: 'changes',
  source: {
    state: [],
    isFeed: true,
    open: async (context, { account, token: symbol = 'iost', csv, ...requested }) => {
      const { view, compat } = context
      const [name, found] = await Promise.all([resolveOwner(context, account), view.get(tokens, symbol)])
      if (found === undefined) throw unknown(context, 'token', symbol)
      if (requested.step !== undefined)
        return listBalanceSteps(
          context,
          { ...requested, step: requested.step },
          { id: balanceId(symbol, name), decimal: found.decimal },
        )
      const all = await openChangeList(view, seriesOf.balance(balanceId(symbol, name)))
      const listing = {
        ...(await numberedRows(context, all, requested)),
        rows: balanceChangeRows({ owner: name, decimal: found.decimal, compat, isLabelled: csv === 'koinly' }),
      }
      if (csv === undefined) return listing
      const book = { csv, account: name, tokens: [symbol], range: requested, bookingsOf: createChangeBookings(symbol) }
      return { ...listing, book: openBook(context, book) }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'busyhub', token: 'iost', page: '1', size: '5' },
})

type StepOptions = RangeOfSteps & { readonly step: Step; readonly sort: 'asc' | 'desc' }
type Balance = { readonly id: string; readonly decimal: number }

/** Opening and closing balance of each step, with the sums of increases and decreases. */
async function listBalanceSteps(
  context: Context,
  { step: by, sort: order, ...requested }: StepOptions,
  { id, decimal }: Balance,
): Promise<Listing<Numbered<SeriesChange>>> {
  const steps = await requestedSteps(context, { step: by, ...computeStepBounds(requested) })
  const flows = await readFlows(context.view, seriesOf.balance(id), listStepHeights(steps))
  const shown = (units: bigint): string => formatUnits(units, decimal)
  const rows = steps.map(({ first, isWhole }, at) => {
    const [before = NO_FLOWS, after = NO_FLOWS] = [flows[at], flows[at + 1]]
    return {
      date: formatDate(first),
      complete: isWhole,
      opening: shown(before.gained - before.lost),
      in: shown(after.gained - before.gained),
      out: shown(after.lost - before.lost),
      closing: shown(after.gained - after.lost),
    }
  })
  return createStepListing(rows, order, Object.keys(stepRow.properties))
}

const voteFields = {
  ...changeFields,
  producer: text('The producer.', '生产者。'),
  change: exact(
    'Votes that were added; negative if they were taken back. In IOST.',
    '增加的票数；撤回时为负数（IOST）。',
  ),
  votes: exact('Votes of the account for this producer after it, in IOST.', '变动后该账户投给此生产者的票数（IOST）。'),
  total_votes: exact(
    'Votes of the account for all producers after it, in IOST.',
    '变动后该账户投给所有生产者的总票数（IOST）。',
  ),
}

export const getVoteHistory = defineList({
  module: 'account',
  action: 'get-vote-history',
  title: { en: 'Votes of an account over time', zh: '账户投票历史' },
  summary: {
    en: 'Every vote and unvote of an account or contract for producers, newest first; sort=asc returns the exact reverse. Votes that a contract cast for the account in a transaction of somebody else are included. The votes of any moment are given by get-account-balance with at_block or at_time.',
    zh: '账户或合约为生产者投票与撤票的全部记录，最新的在前；sort=asc 时顺序完全相反。合约在他人交易中代该账户投出的票也包括在内。任意时刻的投票可用 get-account-balance 加 at_block 或 at_time 查询。',
  },
  params: Type.Object({ account: owner(), ...paging, sort: sort(), ...range }),
  check: checkRange,
  ...numberedLists('votes', voteFields, changesTitle),
  list: 'votes',
  source: {
    state: [],
    isFeed: true,
    open: async (context, { account, ...asked }) => {
      const { view, compat } = context
      const all = await openChangeList(view, seriesOf.voter(await resolveOwner(context, account)))
      const votes = { from: parseVotes, after: applyVoteEntry }
      return {
        ...(await numberedRows(context, all, asked)),
        rows: changeRows({ fold: votes, compat }, ({ change, more: [producer = ''] }, after) => ({
          producer,
          change: toIost(change),
          votes: toIost(after.get(producer) ?? 0n),
          total_votes: toIost([...after.values()].reduce((sum, each) => sum + each, 0n)),
        })),
      }
    },
  },
  isOfStore: true,
  fails: ['not_found', 'loading'],
  example: { account: 'user_000', page: '1', size: '5' },
})
