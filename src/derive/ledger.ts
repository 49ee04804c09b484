import type { Block } from '#chain/block.ts'
import { canHoldTokens, isSystemContract } from '#chain/names.ts'
import { Failure } from '#failure/failure.ts'
import { type BalanceDoc, balanceId, balances, type Frozen, findFrozenIndex } from '#indices/balance.ts'
import { seriesOf } from '#indices/series.ts'
import type { StatisticsDoc } from '#indices/statistics.ts'
import { type TokenDoc, tokens } from '#indices/token.ts'
import { wealth } from '#indices/wealth.ts'
import type { ChangeCause, OpenSeries, SeriesDrafts } from './series.ts'
import type { State, Writable } from './state.ts'

/** Tokens while a block is derived (`Ledger`). */
function tokenDrafts(state: State, { height }: Block, past: SeriesDrafts) {
  const drafts = new Map<string, { readonly before: TokenDoc | undefined; readonly doc: Writable<TokenDoc> }>()
  return {
    token: (symbol: string): Writable<TokenDoc> => {
      const known = drafts.get(symbol)
      if (known !== undefined) return known.doc
      const before = state.get(tokens, symbol)
      if (before === undefined)
        throw new Failure('defect', `Block ${height} moves token "${symbol}", which was never created.`)
      const doc = { ...before }
      drafts.set(symbol, { before, doc })
      return doc
    },
    create: (doc: TokenDoc): TokenDoc | undefined => {
      const known = drafts.get(doc.symbol)
      const before = known === undefined ? state.get(tokens, doc.symbol) : known.before
      const former = known?.doc ?? before
      drafts.set(doc.symbol, { before, doc: { ...doc, holder_count: former?.holder_count ?? 0 } })
      return former
    },
    /** Writes the tokens that changed, and records the change in their number of holders. */
    settle: (): void => {
      for (const { before, doc } of drafts.values()) {
        if (before === undefined || MUTABLE.some(field => before[field] !== doc[field])) state.put(tokens, doc)
        const gained = doc.holder_count - (before?.holder_count ?? 0)
        if (gained !== 0) past.note(past.open(seriesOf.holders(doc.symbol)), BigInt(gained), { kind: 'block' })
      }
    },
  }
}

const MUTABLE = ['total_supply', 'current_supply', 'holder_count', 'issuer', 'tx_hash'] as const

/** An amount that a movement freezes, and the time of its release. `isOwn`: the owner had it before. */
type Locked = {
  readonly amount: bigint
  readonly until: bigint
  readonly movement: object
  readonly isOwn: boolean
}

/** Balances, tokens and wealth while a block is derived. Amounts in the token's smallest unit. */
export type Ledger = {
  /**
   * Adds to (or subtracts from) the available amount, by a movement or for RAM. An amount that its owner
   * cannot hold is lost. Throws Failure 'defect' when the result would be negative.
   */
  add(token: string, owner: string, change: { readonly change: bigint; readonly by: ChangeCause }): void
  /** Locks an amount until a time (nanoseconds); at once available if that is not after the block's time. */
  freeze(token: string, owner: string, locked: Locked): void
  release(id: string): void
  /** The draft of a token, to be changed in place. Throws Failure 'defect' when there is no such token. */
  token(symbol: string): Writable<TokenDoc>
  /**
   * Adds a new token, or the next one of the same symbol, whose owners keep the amounts that they had of the former
   * one. Returns the former one.
   */
  createToken(doc: TokenDoc): TokenDoc | undefined
  /** Adds the wealth row of a new account or user contract. */
  open(owner: string): void
  /** Adds producer votes of a voter, in 10^-8 IOST. */
  addVotes(voter: string, votes: bigint): void
  settle(statistics: Writable<StatisticsDoc>): void
}

export function createLedger(state: State, block: Block, past: SeriesDrafts): Ledger {
  const drafts = new Map<string, BalanceDraft>()
  const drawn = tokenDrafts(state, block, past)
  const wealth = createWealthDrafts(state)
  const draft = (token: string, owner: string): BalanceDraft => {
    const id = balanceId(token, owner)
    const known = drafts.get(id)
    if (known !== undefined) return known
    const place = { token, owner, past: past.open(seriesOf.balance(id)) }
    const fresh = createBalanceDraft(place, state.get(balances, id))
    drafts.set(id, fresh)
    if (token === 'iost' && !isSystemContract(owner)) wealth.touch(owner)
    return fresh
  }
  return {
    add: (symbol, owner, { change, by }) => {
      if (!canHoldTokens(owner)) return
      const balance = draft(symbol, owner)
      past.note(balance.past, change, by)
      balance.amount += change
      if (balance.amount < 0n) throw overdrawn(block, balance)
    },
    freeze: (symbol, owner, { amount, until, movement, isOwn }) => {
      const isDue = until <= block.time
      if (isOwn && (isDue || amount === 0n)) return
      const balance = draft(symbol, owner)
      if (isOwn) {
        past.note(balance.past, 0n, { movement, until, own: amount })
        balance.amount -= amount
        insertFrozen(balance, amount, until)
        if (balance.amount < 0n) throw overdrawn(block, balance)
        return
      }
      past.note(balance.past, amount, isDue ? { movement } : { movement, until })
      if (isDue) balance.amount += amount
      else insertFrozen(balance, amount, until)
    },
    release: id => {
      const slash = id.indexOf('/')
      const balance = draft(id.slice(0, slash), id.slice(slash + 1))
      past.note(balance.past, release(balance, block.time), { kind: 'due' })
    },
    token: drawn.token,
    createToken: drawn.create,
    open: wealth.open,
    addVotes: wealth.addVotes,
    settle: statistics => {
      for (const balance of drafts.values()) {
        const doc = toChangedBalance(balance)
        if (doc === undefined) continue
        const gained = Number(doc.amount > 0n) - Number((balance.before?.amount ?? 0n) > 0n)
        if (gained !== 0) drawn.token(balance.token).holder_count += gained
        state.put(balances, doc)
      }
      drawn.settle()
      statistics.wealth_count += wealth.settle()
    },
  }
}

const overdrawn = ({ height }: Block, { token, owner, amount }: BalanceDraft): Failure =>
  new Failure('defect', `Block ${height} takes more ${token} from "${owner}" than it has: ${amount} would be left.`)

/** A balance while a block is derived. It is changed in place, so thousands of changes cost linear time. */
type BalanceDraft = {
  readonly token: string
  readonly owner: string
  readonly before: BalanceDoc | undefined
  readonly past: OpenSeries
  amount: bigint
  frozen: bigint
  /** By time, then amount; shared with the document until the first change. */
  list: Frozen[]
  listIsOwn: boolean
}

function createBalanceDraft(
  place: Pick<BalanceDraft, 'token' | 'owner' | 'past'>,
  before: BalanceDoc | undefined,
): BalanceDraft {
  const { amount = 0n, frozen = 0n, frozen_list = [] } = before ?? {}
  return { ...place, before, amount, frozen, list: frozen_list as Frozen[], listIsOwn: false }
}

function insertFrozen(draft: BalanceDraft, amount: bigint, time: bigint): void {
  if (!draft.listIsOwn) {
    draft.list = [...draft.list]
    draft.listIsOwn = true
  }
  draft.list.splice(findFrozenIndex(draft.list, amount, time), 0, [String(amount), String(time)])
  draft.frozen += amount
}

/** Releases the amounts due at `time`; returns their sum. */
function release(draft: BalanceDraft, time: bigint): bigint {
  let released = 0n
  let count = 0
  for (const [amount, due] of draft.list) {
    if (BigInt(due) > time) break
    released += BigInt(amount)
    count += 1
  }
  if (count === 0) return 0n
  draft.list = draft.list.slice(count)
  draft.listIsOwn = true
  draft.amount += released
  draft.frozen -= released
  return released
}

/** The document of a draft; undefined if nothing changed. */
function toChangedBalance(draft: BalanceDraft): BalanceDoc | undefined {
  const { before, token, owner, amount, frozen, list } = draft
  if (before !== undefined && before.amount === amount && !draft.listIsOwn) return undefined
  const first = list[0]
  return {
    id: balanceId(token, owner),
    token,
    owner,
    amount,
    frozen,
    frozen_list: list,
    ...(first === undefined ? {} : { next_due: BigInt(first[1]) }),
  }
}

/** Wealth rows of the owners that a block affects, computed from their balances at the end of the block. */
function createWealthDrafts(state: State) {
  const votes = new Map<string, bigint>()
  const opened = new Set<string>()
  /** Marks an owner whose IOST moved. */
  const touch = (owner: string): void => {
    if (!votes.has(owner)) votes.set(owner, 0n)
  }
  /** Writes the owner's row if it changed. Returns 1 if it rose above zero, −1 if it fell to zero. */
  const settleOwner = (owner: string, more: bigint): number => {
    const before = state.get(wealth, owner)
    if (before === undefined && !opened.has(owner)) return 0
    const vote = (before?.vote ?? 0n) + more
    const balance = state.get(balances, balanceId('iost', owner))
    const token = balance?.amount ?? 0n
    const frozen = balance?.frozen ?? 0n
    const now = { id: owner, owner, total: token + vote + frozen, token, vote, frozen }
    if (before !== undefined && before.token === now.token && before.frozen === now.frozen && before.vote === now.vote)
      return 0
    state.put(wealth, now)
    return Number(now.total > 0n) - Number((before?.total ?? 0n) > 0n)
  }
  return {
    touch,
    open: (owner: string): void => {
      opened.add(owner)
      touch(owner)
    },
    addVotes: (voter: string, more: bigint): void => {
      votes.set(voter, (votes.get(voter) ?? 0n) + more)
    },
    /** Writes the changed rows; returns the growth of those above zero. Balances must be written before. */
    settle: (): number => {
      let listed = 0
      for (const [owner, more] of votes) listed += settleOwner(owner, more)
      return listed
    },
  }
}
