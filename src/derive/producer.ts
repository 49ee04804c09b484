import { IOST_DECIMALS, roundToUnits } from '#chain/amount.ts'
import { Exact, type ExactJson, writeJson } from '#chain/json.ts'
import { directVote } from '#chain/stake.ts'
import { toDay } from '#chain/time.ts'
import { type ProducerDoc, producerKeys, producers, VOTE_DAYS } from '#indices/producer.ts'
import { seriesOf } from '#indices/series.ts'
import { voteId, votes } from '#indices/vote.ts'
import { findText, type ParsedReceipt, parseActionArguments, parseReceipt } from './receipt.ts'
import type { Scope, TxScope } from './scope.ts'
import type { State } from './state.ts'
import type { Movement } from './token.ts'

const BANK = 'vote_producer.iost'

const APPLY = 0
const APPROVED = 1
const UNAPPLY = 2
const UNAPPLY_APPROVED = 3

/** Changes the producer table by a receipt of vote_producer.iost, or by an action of an older contract. */
export function applyProducer(at: TxScope, name: string, args: readonly ExactJson[]): void {
  const { scope } = at
  const account = findText(args, 0)
  if (account === undefined) return
  switch (name) {
    case 'initProducer':
      register(scope, account, {
        pubkey: findText(args, 1) ?? '',
        loc: '',
        url: '',
        net_id: '',
        is_producer: true,
        status: APPROVED,
        online: true,
      })
      return
    case 'applyRegister':
      register(scope, account, { ...readEntry(args), is_producer: args[5] === true, status: APPLY, online: false })
      return
    case 'updateProducer':
      update(scope, account, args)
      return
    case 'applyUnregister':
      if (getProducer(scope.state, account).status !== APPLY) changeProducer(scope, account, { status: UNAPPLY })
      // Version 1.0.0 removed it at once; versions that are not known are later.
      else if (scope.statistics.versions.some(([id, version]) => id === BANK && version === '1.0.0'))
        unregister(scope, account)
      return
    case 'unregister':
      unregister(scope, account)
      return
    default: {
      const change = CHANGES.get(name)
      if (change !== undefined) changeProducer(scope, account, change)
    }
  }
}

/** Events that change the same fields of every producer. */
const CHANGES: ReadonlyMap<string, Partial<ProducerDoc>> = new Map([
  ['approveRegister', { status: APPROVED }],
  ['approveUnregister', { status: UNAPPLY_APPROVED }],
  ['forceUnregister', { status: UNAPPLY_APPROVED }],
  ['logInProducer', { online: true }],
  ['logOutProducer', { online: false }],
])

function register(
  scope: Scope,
  account: string,
  entry: Pick<ProducerDoc, 'pubkey' | 'loc' | 'url' | 'net_id' | 'is_producer' | 'status' | 'online'>,
): void {
  changeProducer(scope, account, { registered: true, ...entry })
  scope.state.put(producerKeys, { id: entry.pubkey, account })
}

/** The texts of an entry, as registrations and updates name them. */
const readEntry = (args: readonly ExactJson[]) => ({
  pubkey: findText(args, 1) ?? '',
  loc: findText(args, 2) ?? '',
  url: findText(args, 3) ?? '',
  net_id: findText(args, 4) ?? '',
})

function update(scope: Scope, account: string, args: readonly ExactJson[]): void {
  const { state } = scope
  const entry = readEntry(args)
  const { pubkey } = entry
  const before = getProducer(state, account)
  if (before.pubkey !== pubkey) {
    if (before.pubkey !== '') state.put(producerKeys, { id: before.pubkey, account: '' })
    state.put(producerKeys, { id: pubkey, account })
  }
  changeProducer(scope, account, entry)
}

/** Removes the row from the table and frees its key; votes stay with the account. */
function unregister(scope: Scope, account: string): void {
  const { state } = scope
  const before = getProducer(state, account)
  if (!before.registered) return
  state.put(producerKeys, { id: before.pubkey, account: '' })
  changeProducer(scope, account, { registered: false, unregistered: scope.block.height })
}

/** A producer's document. Without a registration (votes, awards and keys may precede it) it is not listed. */
export const getProducer = (state: State, account: string): ProducerDoc =>
  state.get(producers, account) ?? {
    id: account,
    account,
    registered: false,
    pubkey: '',
    loc: '',
    url: '',
    net_id: '',
    is_producer: false,
    status: 0,
    online: false,
    votes: 0n,
    opening_votes: [],
    voter_count: 0,
    block_count: 0,
    received_award: 0n,
    payouts: [],
  }

/**
 * Writes a producer's document and updates the counters of the table. Every change of a producer's votes is
 * made here, so the first one on a day still finds the votes at the start of the day.
 */
function changeProducer(
  { state, statistics, block }: Pick<Scope, 'state' | 'statistics' | 'block'>,
  account: string,
  change: Partial<Omit<ProducerDoc, 'opening_votes'>>,
): void {
  const before = getProducer(state, account)
  const { listed: _, unregistered, ...changed } = { ...before, ...change }
  const { votes, opening_votes } = before
  const day = toDay(block.time)
  const after =
    changed.votes === votes || opening_votes.at(-1)?.[0] === day
      ? changed
      : { ...changed, opening_votes: [...opening_votes, [day, String(votes)] as const].slice(-VOTE_DAYS) }
  state.put(producers, {
    ...after,
    ...(after.registered ? { listed: account } : unregistered === undefined ? {} : { unregistered }),
  })
  statistics.producer_count += Number(after.registered) - Number(before.registered)
  statistics.producer_votes += getTableVotes(after) - getTableVotes(before)
}

const getTableVotes = ({ registered, votes }: Pick<ProducerDoc, 'registered' | 'votes'>): bigint =>
  registered ? votes : 0n

/**
 * A receipt of vote_producer.iost, or one of its actions without a receipt (`hasReceipt` false). The contract rounds its
 * amounts to the decimals of IOST, and writes those below 10^-6 with an exponent: `4.5e-7`.
 */
type ProducerEvent = {
  readonly name: string
  readonly args: readonly ExactJson[]
  readonly hasReceipt: boolean
}

/** Receipts only of those versions of vote_producer.iost that emit a receipt for every event about votes. */
const TOLD: ReadonlySet<string> = new Set(['vote', 'unvote', 'topupVoterBonus', 'topupCandidateBonus'])

/** Applies the receipt of vote_producer.iost at a position of its transaction. */
export function applyProducerReceipt(at: TxScope, parsed: ParsedReceipt, position: number): void {
  if (TOLD.has(parsed.name)) at.scope.statistics.votes_told = true
  if (parsed.name === 'voterWithdraw') applyWithdrawal(at, parsed, position)
  else applyProducerEvent(at, { name: parsed.name, args: parsed.args, hasReceipt: true })
}

/** Applies any event of vote_producer.iost but the withdrawals of voters. */
function applyProducerEvent(at: TxScope, event: ProducerEvent): void {
  const { name, args } = event
  if (name === 'vote' || name === 'unvote' || name === 'voteFor') applyVote(at, event)
  else if (name === 'topupCandidateBonus') {
    // `topupCandidateBonus [amount, payer]`.
    at.scope.bonuses.addForCandidates(roundToUnits(findText(args, 0) ?? '', IOST_DECIMALS) ?? 0n)
  } else if (name === 'candidateWithdraw' || name === 'topupVoterBonus') applyAward(at, name, args)
  else applyProducer(at, name, args)
}

/** `vote [voter, producer, amount]`, `unvote` likewise, `voteFor [payer, voter, producer, amount]`. */
function applyVote(at: TxScope, { name, args, hasReceipt }: ProducerEvent): void {
  const first = name === 'voteFor' ? 1 : 0
  const voter = findText(args, first)
  const producer = findText(args, first + 1)
  const amount = roundToUnits(findText(args, first + 2) ?? '', IOST_DECIMALS)
  if (voter === undefined || producer === undefined || amount === undefined) return
  const { state, ledger, series: past, bonuses } = at.scope
  const id = voteId(producer, voter)
  const before = state.get(votes, id)?.votes ?? 0n
  const more = name === 'unvote' ? -amount : amount
  const after = before + more
  bonuses.vote({ voter, producer, change: more }, hasReceipt)
  state.put(votes, { id, producer, voter, votes: after })
  const doc = getProducer(state, producer)
  const voters = Number(after > 0n) - Number(before > 0n)
  changeProducer(at.scope, producer, { votes: doc.votes + more, voter_count: doc.voter_count + voters })
  ledger.addVotes(voter, more)
  past.note(past.open(seriesOf.voter(voter)), more, { kind: 'tx', more: [producer] })
  past.note(past.open(seriesOf.producer(producer)), more, { kind: 'tx', more: [voter] })
}

/** Number of days of payouts that are kept: 30 and the current one (the period of dividend_rate). */
const DAYS = 31

/** Counts IOST from bonus.iost as an award: it is the producer's contribute, exchanged (exchangeIOST). */
export function awardByBonus({ scope }: TxScope, { token, from, to, amount }: Movement): void {
  if (token !== 'iost' || from !== 'bonus.iost' || to === from) return
  award(scope, to, amount)
  noteReward(scope, to, [amount, 'exchange'])
}

/** Records a reward given to or taken by a producer and its voters (`REWARDS` of get-reward-history). */
const noteReward = (
  { series: past }: Pick<Scope, 'series'>,
  producer: string,
  [amount, ...more]: readonly [bigint, ...string[]],
): void => past.note(past.open(seriesOf.rewards(producer)), amount, { kind: 'tx', more })

/** Applies `voterWithdraw {producer: amount}`: payouts to a voter, whom the next receipt pays and names. */
function applyWithdrawal({ scope, tx }: TxScope, parsed: ParsedReceipt, position: number): void {
  for (const [producer, amount] of parseWithdrawals(parsed.value)) noteReward(scope, producer, [amount, 'voters'])
  const next = tx.receipt.receipts[position + 1]
  if (next?.funcName !== 'token.iost/transfer') return
  const [token, from, voter] = parseReceipt(next).args
  if (token === 'iost' && from === BANK && typeof voter === 'string') scope.bonuses.voterTook(voter)
}

/** The amounts in a receipt of voterWithdraw, by producer. vote_producer.iost 1.0.4 and 1.0.5 write all decimals. */
const parseWithdrawals = (value: ExactJson | undefined): readonly (readonly [string, bigint])[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Exact)
    ? Object.entries(value).flatMap(([producer, amount]) => {
        const units = typeof amount === 'string' ? roundToUnits(amount, IOST_DECIMALS) : undefined
        return units === undefined ? [] : [[producer, units] as const]
      })
    : []

/** `candidateWithdraw [producer, its half, voters' half]` and `topupVoterBonus [producer, amount, payer]`. */
function applyAward({ scope }: TxScope, name: string, args: readonly ExactJson[]): void {
  const producer = findText(args, 0)
  const first = roundToUnits(findText(args, 1) ?? '', IOST_DECIMALS)
  if (producer === undefined || first === undefined) return
  if (name === 'topupVoterBonus') {
    payVoters(scope, producer, first)
    scope.bonuses.addForVoters(producer, first)
    noteReward(scope, producer, [first, 'topup', findText(args, 2) ?? ''])
  }
  if (name === 'candidateWithdraw') {
    // The contract names the voters' half even if the producer has no votes, but then keeps it and gives it to nobody
    // (`config/genesis/contract/vote_producer.js` _topupVoterBonusInternal).
    const half = getProducer(scope.state, producer).votes > 0n ? findText(args, 2) : undefined
    awardCandidate(scope, producer, [first, roundToUnits(half ?? '', IOST_DECIMALS) ?? 0n])
  }
}

/** Applies a candidate bonus: the producer took its half, and its voters were given the other. */
function awardCandidate(scope: Scope, producer: string, [own, voters]: readonly [bigint, bigint]): void {
  award(scope, producer, own)
  payVoters(scope, producer, voters)
  scope.bonuses.candidateTook(producer)
  scope.bonuses.addForVoters(producer, voters)
  noteReward(scope, producer, [own, 'candidate', String(voters)])
}

/**
 * Applies candidateWithdraw without a receipt (vote_producer.iost before 1.0.6) by its transfers: to the producer, and
 * to itself for the voters, if there are any. Before token.iost 1.0.3 the second left no trace; it equalled the first.
 */
function awardByTransfers({ scope }: TxScope, producer: string, movements: readonly Movement[]): void {
  const at = movements.findIndex(({ token, from, to }) => token === 'iost' && from === BANK && to === producer)
  const own = movements[at]
  if (own === undefined) return
  const next = movements[at + 1]
  const isShown = next?.from === BANK && next.to === BANK
  const unshown = getProducer(scope.state, producer).votes > 0n ? own.amount : 0n
  awardCandidate(scope, producer, [own.amount, isShown ? next.amount : unshown])
}

const award = (scope: Scope, account: string, amount: bigint): void =>
  changeProducer(scope, account, { received_award: getProducer(scope.state, account).received_award + amount })

function payVoters(scope: Scope, producer: string, amount: bigint): void {
  const { state, block } = scope
  const day = toDay(block.time)
  const { payouts } = getProducer(state, producer)
  const last = payouts.at(-1)
  const next =
    last?.[0] === day
      ? [...payouts.slice(0, -1), [day, String(BigInt(last[1]) + amount)] as const]
      : [...payouts, [day, String(amount)] as const]
  changeProducer(scope, producer, { payouts: next.slice(-DAYS) })
}

/** Actions of vote_producer.iost that change documents, and the number of leading arguments naming parties. */
const SILENT_ACTIONS: ReadonlyMap<string, number> = new Map([
  ['applyRegister', 1],
  ['applyUnregister', 1],
  ['approveRegister', 1],
  ['approveUnregister', 1],
  ['forceUnregister', 1],
  ['unregister', 1],
  ['updateProducer', 1],
  ['logInProducer', 1],
  ['logOutProducer', 1],
  ['vote', 2],
  ['unvote', 2],
  ['voteFor', 3],
  ['topupVoterBonus', 1],
  ['candidateWithdraw', 1],
])

/** Applies votes and producers' actions without their own receipt, made by older contracts (`scope.ts`). */
export function applySilentActions(at: TxScope, movements: ReadonlyMap<number, Movement>): void {
  const { actions, receipt } = at.tx
  const hasSilent = actions.some(action =>
    action.contract === BANK ? SILENT_ACTIONS.has(action.actionName) : directVote(action) !== undefined,
  )
  if (!hasSilent) return
  const receiptCounts = new Map<string, number>()
  for (const each of receipt.receipts) {
    const parsed = parseReceipt(each)
    const key = parsed.contract === BANK ? partiesKey(parsed.name, parsed.args) : undefined
    if (key !== undefined) receiptCounts.set(key, (receiptCounts.get(key) ?? 0) + 1)
  }
  actions.forEach((action, position) => {
    const vote = directVote(action)
    if (vote !== undefined) applyProducerEvent(at, { ...vote, hasReceipt: false })
    if (action.contract !== BANK) return
    const args = parseActionArguments(action) ?? []
    const key = partiesKey(action.actionName, args)
    if (key === undefined) return
    const receipts = receiptCounts.get(key) ?? 0
    if (receipts > 0) receiptCounts.set(key, receipts - 1)
    else applySilent(at, { name: action.actionName, args, position }, movements)
  })
}

function partiesKey(name: string, args: ParsedReceipt['args']): string | undefined {
  const parties = SILENT_ACTIONS.get(name)
  return parties === undefined ? undefined : writeJson([name, ...args.slice(0, parties)])
}

function applySilent(
  at: TxScope,
  { name, args, position }: Omit<ProducerEvent, 'hasReceipt'> & { readonly position: number },
  movements: ReadonlyMap<number, Movement>,
): void {
  if (name === 'candidateWithdraw') {
    awardByTransfers(at, findText(args, 0) ?? '', [...movements.values()])
    return
  }
  // A producer without votes gets no bonus: the action returns false.
  if (name === 'topupVoterBonus' && /^\["?false"?\]$/.test(at.tx.receipt.returns[position] ?? '')) return
  applyProducerEvent(at, { name, args, hasReceipt: false })
}
