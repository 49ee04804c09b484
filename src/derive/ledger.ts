import type { Block } from '#chain/block.ts'
import { isSystemContract } from '#chain/names.ts'
import { Failure } from '#failure/failure.ts'
import { type BalanceDoc, balanceId, balances } from '#indices/balance.ts'
import type { StatisticsDoc } from '#indices/statistics.ts'
import { type TokenDoc, tokens } from '#indices/token.ts'
import { type BalanceDraft, changedBalance, draftOf, freezeIn, release } from './balance-draft.ts'
import type { State } from './state.ts'
import { wealthDrafts } from './wealth.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type TokenDraft = Writable<TokenDoc>

/** Balances, tokens and wealth while a block is derived. Amounts in the token's smallest unit. */
export type Ledger = {
  /** Adds to (or takes from) what is available. Throws Failure 'defect' when less than nothing would be left. */
  add(token: string, owner: string, amount: bigint): void
  /** Locks an amount until a time (nanoseconds); available immediately when that is not after the block's time. */
  freeze(token: string, owner: string, locked: { readonly amount: bigint; readonly until: bigint }): void
  /** Makes available what is due at the block's time. */
  release(id: string): void
  /** Changed in place. Throws Failure 'defect' when there is no such token. */
  token(symbol: string): TokenDraft
  createToken(doc: TokenDoc): void
  /** An account or user contract came into being: it has a wealth row from now on. */
  open(owner: string): void
  /** Producer votes of a voter, in 10^-8. */
  addVotes(voter: string, votes: bigint): void
  settle(statistics: Writable<StatisticsDoc>): void
}

const IOST = 'iost'

export const ledger = (state: State, block: Block): Ledger => {
  const drafts = new Map<string, BalanceDraft>()
  const tokenDrafts = new Map<string, { readonly before: TokenDoc | undefined; readonly doc: TokenDraft }>()
  const wealth = wealthDrafts(state)

  const draft = (token: string, owner: string): BalanceDraft => {
    const id = balanceId(token, owner)
    const known = drafts.get(id)
    if (known !== undefined) return known
    const fresh = draftOf(token, owner, state.get(balances, id))
    drafts.set(id, fresh)
    if (token === IOST && !isSystemContract(owner)) wealth.touch(owner)
    return fresh
  }
  const token = (symbol: string): TokenDraft => {
    const known = tokenDrafts.get(symbol)
    if (known !== undefined) return known.doc
    const before = state.get(tokens, symbol)
    if (before === undefined)
      throw new Failure('defect', `Block ${block.height} moves token "${symbol}", which was never created.`)
    const doc = { ...before }
    tokenDrafts.set(symbol, { before, doc })
    return doc
  }
  return {
    add: (symbol, owner, amount) => {
      const balance = draft(symbol, owner)
      balance.amount += amount
      if (balance.amount < 0n)
        throw new Failure(
          'defect',
          `Block ${block.height} takes more ${symbol} from "${owner}" than it has: ${balance.amount} would be left.`,
        )
    },
    freeze: (symbol, owner, { amount, until }) => {
      const balance = draft(symbol, owner)
      if (until <= block.time) balance.amount += amount
      else freezeIn(balance, amount, until)
    },
    release: id => {
      const slash = id.indexOf('/')
      release(draft(id.slice(0, slash), id.slice(slash + 1)), block.time)
    },
    token,
    createToken: doc => {
      tokenDrafts.set(doc.symbol, { before: undefined, doc: { ...doc } })
    },
    open: owner => wealth.open(owner),
    addVotes: (voter, votes) => wealth.addVotes(voter, votes),
    settle: statistics => {
      for (const balance of drafts.values()) {
        const doc = changedBalance(balance)
        if (doc === undefined) continue
        const gained = holdersGained(balance.before, doc)
        if (gained !== 0) token(balance.token).holder_count += gained
        state.put(balances, doc)
      }
      for (const { before, doc } of tokenDrafts.values())
        if (before === undefined || changed(before, doc)) state.put(tokens, doc)
      statistics.wealth_count += wealth.settle()
    },
  }
}

/** 1 for an owner that has some of a token now and had none before, −1 for the opposite. */
const holdersGained = (before: BalanceDoc | undefined, now: BalanceDoc): number => {
  const had = (before?.amount ?? 0n) > 0n
  const has = now.amount > 0n
  if (had === has) return 0
  return has ? 1 : -1
}

const changed = (before: TokenDoc, doc: TokenDoc): boolean =>
  before.total_supply !== doc.total_supply ||
  before.current_supply !== doc.current_supply ||
  before.holder_count !== doc.holder_count ||
  before.issuer !== doc.issuer
