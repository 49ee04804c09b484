import { contributeIn, isBase } from '#chain/base-transaction.ts'
import type { LoadedBlock, Transaction } from '#chain/block.ts'
import { applies, hasFailed, isMovement } from '#chain/effects.ts'
import {
  canHoldTokens,
  contractIdOf,
  isActionName,
  isContractId,
  isPossibleName,
  isSystemContract,
} from '#chain/names.ts'
import { accounts } from '#indices/account.ts'
import { balanceId, balances } from '#indices/balance.ts'
import { contracts } from '#indices/contract.ts'
import { days } from '#indices/day.ts'
import { listOf, lists } from '#indices/list.ts'
import { pledgeId, pledges } from '#indices/pledge.ts'
import { producerKeys, producers } from '#indices/producer.ts'
import type { Key, StateIndex } from '#indices/registry.ts'
import { resources } from '#indices/resource.ts'
import { series, seriesOf } from '#indices/series.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { tokenDayId, tokenDays } from '#indices/token-day.ts'
import { voteId, votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import { dayId } from './day.ts'
import { directVote } from './direct-vote.ts'
import { pledgedKey } from './gas.ts'
import { accountsOf, type Call, partiesOf } from './parties.ts'
import { paidByVotes, withdrawalsIn } from './producer.ts'
import { argumentsOf, type ParsedReceipt, parseReceipt, repetitionsOf, textAt } from './receipt.ts'
import { needToken721 } from './token721.ts'

type Add = (index: StateIndex, id: string) => void

/**
 * Keys of the state that deriving the block will need, as far as the block shows: nearly always all of it. State that
 * only other state identifies (the owner of a contract that pays RAM, the owner of the signing key) is requested by
 * `MissingState`. A key is repeated as often as the block names it. `isKnown`: keys to leave out.
 */
export const needsOf = (
  { block }: LoadedBlock,
  isKnown: (index: StateIndex, id: string) => boolean = () => false,
): readonly Key[] => {
  const keys: Key[] = []
  const add: Add = (index, id) => {
    if (!isKnown(index, id)) keys.push({ index, id })
  }
  add(statistics, STATISTICS)
  const date = dayId(block.time)
  add(days, date)
  add(producerKeys, block.witness)
  const paid = contributeIn(block)
  if (paid !== undefined) needPaid(add, paid.to)
  else
    block.transactions.forEach((tx, position) => {
      needTransaction(add, tx, { date, base: isBase(block, position) })
    })
  return keys
}

/** State for a block in which a witness is paid and nothing else happens. */
const needPaid = (add: Add, witness: string): void => {
  needBalance(add, 'contribute', witness)
  add(series, seriesOf.holders('contribute'))
  add(series, seriesOf.supply('contribute'))
  add(producers, witness)
}

/** State needed to release the due amounts of a balance, by its id. */
export const needsOfDue = (id: string): readonly Key[] => {
  const keys: Key[] = []
  const add: Add = (index, id) => void keys.push({ index, id })
  const slash = id.indexOf('/')
  needBalance(add, id.slice(0, slash), id.slice(slash + 1))
  add(series, seriesOf.holders(id.slice(0, slash)))
  return keys
}

/** `date`: id of the transaction's day; `base`: whether it is the base transaction of its block. */
type Of = { readonly date: string; readonly base: boolean }

const needTransaction = (add: Add, tx: Transaction, of: Of): void => {
  if (!of.base) needActions(add, tx)
  if (applies(tx)) needReceipts(add, tx, of)
  needRam(add, tx)
}

const needActions = (add: Add, tx: Transaction): void => {
  if (tx.receipt.gasUsage !== 0n) add(resources, tx.publisher)
  const caller = isPossibleName(tx.publisher) ? tx.publisher : undefined
  for (const action of tx.actions) {
    const call: Call = { contract: action.contract, name: action.actionName, args: argumentsOf(action) }
    needRow(add, tx, { call, caller })
    if (call.contract === 'vote_producer.iost') needProducer(add, call.name, call.args ?? [])
    if (call.contract === 'system.iost') needCode(add, call, tx)
    const vote = directVote(action)
    if (vote !== undefined) needProducer(add, vote.name, vote.args)
  }
}

const needReceipts = (add: Add, tx: Transaction, { date, base }: Of): void => {
  const isSaidByAction = repetitionsOf(tx)
  for (const [at, receipt] of tx.receipt.receipts.entries()) {
    const parsed = parseReceipt(receipt)
    needReceipt(add, parsed, tx)
    if (parsed.contract === 'vote_producer.iost' && parsed.name === 'voterWithdraw')
      needWithdrawal(add, parsed, paidByVotes(tx.receipt.receipts[at + 1]))
    // The contribute of a base transaction makes no row.
    const row = isMovement(parsed.contract, parsed.name) && !(base && textAt(parsed.args, 0) === 'contribute')
    if (!row) continue
    if (base || !isSaidByAction(parsed, receipt.content)) needRow(add, tx, { call: parsed, caller: undefined })
    if (parsed.contract === 'token.iost') needMoved(add, parsed, date)
  }
}

const needRam = (add: Add, tx: Transaction): void => {
  for (const [payer] of tx.receipt.ramUsage) {
    if (payer.endsWith('.iost')) continue
    if (isContractId(payer)) add(contracts, payer)
    else {
      needBalance(add, 'ram', payer)
      add(series, seriesOf.holders('ram'))
      add(resources, payer)
    }
  }
}

/** An action or a receipt that makes a row; only an action has a `caller`. */
type RowToCome = { readonly call: Call; readonly caller: string | undefined }

const needRow = (add: Add, tx: Transaction, { call, caller }: RowToCome): void => {
  const { contract, name: action } = call
  for (const name of accountsOf(partiesOf(call, tx.publisher), caller)) {
    add(lists, listOf.account(name))
    if (hasFailed(tx)) add(lists, listOf.failed(name))
  }
  if (!isContractId(contract)) return
  add(contracts, contract)
  add(lists, listOf.contract(contract))
  if (!isActionName(action)) return
  add(lists, listOf.action(contract, action))
  if (caller !== undefined) add(lists, listOf.called(caller, contract, action))
}

/** Lists of a token movement, the same for a row of the receipt and for one of the action that owns it. */
const needMoved = (add: Add, parsed: ParsedReceipt, date: string): void => {
  const token = textAt(parsed.args, 0)
  if (token === undefined) return
  add(lists, listOf.token(token))
  if (parsed.name === 'transfer' || parsed.name === 'transferFreeze') add(tokenDays, tokenDayId(token, date))
  // If a party is not a possible name, the row belongs to the publisher instead, which `MissingState` requests.
  const { from, to } = partiesOf(parsed, '')
  for (const name of [from, to]) if (isPossibleName(name)) add(lists, listOf.moved(name, token))
  if (to === from || !isPossibleName(to)) return
  add(lists, listOf.received(to))
  add(lists, listOf.receivedOf(to, token))
}

const needBalance = (add: Add, token: string, owner: string): void => {
  add(tokens, token)
  if (!canHoldTokens(owner)) return
  const id = balanceId(token, owner)
  add(balances, id)
  add(series, seriesOf.balance(id))
  if (token === 'iost' && !isSystemContract(owner)) add(wealth, owner)
}

/** An owner's wealth is computed from its balance. */
const needWealth = (add: Add, owner: string): void => {
  add(wealth, owner)
  add(balances, balanceId('iost', owner))
}

const needReceipt = (add: Add, parsed: ParsedReceipt, tx: Transaction): void => {
  switch (parsed.contract) {
    case 'token.iost':
      needToken(add, parsed)
      return
    case 'gas.iost':
      needPledge(add, parsed.args)
      return
    case 'token721.iost':
      needToken721(add, parsed)
      return
    case 'auth.iost':
      needAccount(add, parsed, tx)
      return
    case 'vote_producer.iost':
      needProducer(add, parsed.name, parsed.args)
      if (parsed.name === 'topupCandidateBonus') add(series, seriesOf.candidatesCoefficient)
      return
  }
}

const needToken = (add: Add, { name, args }: ParsedReceipt): void => {
  const [token, first] = [textAt(args, 0), textAt(args, 1)]
  if (token === undefined) return
  if (name === 'create' || name === 'recycle' || !isMovement('token.iost', name)) {
    add(tokens, token)
    return
  }
  add(series, seriesOf.holders(token))
  if (name === 'issue' || name === 'destroy') add(series, seriesOf.supply(token))
  if (first !== undefined) needBalance(add, token, first)
  const to = name === 'transfer' || name === 'transferFreeze' ? textAt(args, 2) : undefined
  if (to !== undefined) needTransfer(add, token, { from: first, to })
  // The contribute of a base transaction goes to the parent's witness, most likely this block's too.
  else if (token === 'contribute' && name === 'issue' && first !== undefined) add(producers, first)
}

const needTransfer = (
  add: Add,
  token: string,
  { from, to }: { readonly from: string | undefined; readonly to: string },
): void => {
  needBalance(add, token, to)
  if (token === 'ram') for (const owner of [from, to]) if (owner !== undefined) add(resources, owner)
  if (token !== 'iost' || from !== 'bonus.iost') return
  add(producers, to)
  add(series, seriesOf.rewards(to))
}

const needPledge = (add: Add, args: ParsedReceipt['args']): void => {
  const [pledger, beneficiary] = [textAt(args, 0), textAt(args, 1)]
  if (pledger === undefined || beneficiary === undefined) return
  add(resources, beneficiary)
  add(pledges, pledgeId(pledger, beneficiary))
  add(series, pledgedKey(pledger, beneficiary))
}

const needAccount = (add: Add, { name, args }: ParsedReceipt, tx: Transaction): void => {
  const account = textAt(args, 0)
  if (account === undefined) return
  add(accounts, account)
  if (name !== 'signUp') return
  add(lists, listOf.created(tx.publisher))
  needWealth(add, account)
}

/** The receipt does not name producers that owe the voter nothing; their state is requested by `MissingState`. */
const needWithdrawal = (add: Add, { value }: ParsedReceipt, voter: string | undefined): void => {
  for (const [producer] of withdrawalsIn(value)) {
    add(series, seriesOf.rewards(producer))
    add(series, seriesOf.votersCoefficient(producer))
  }
  if (voter === undefined) return
  add(series, seriesOf.voter(voter))
  add(series, seriesOf.voterMasks(voter))
}

/** Actions are included: before receipts existed, there was nothing else. */
const needProducer = (add: Add, name: string, args: ParsedReceipt['args']): void => {
  const first = textAt(args, name === 'voteFor' ? 1 : 0)
  const second = textAt(args, name === 'voteFor' ? 2 : 1)
  if (name === 'vote' || name === 'unvote' || name === 'voteFor') {
    if (first === undefined || second === undefined) return
    add(votes, voteId(second, first))
    add(series, seriesOf.voter(first))
    add(series, seriesOf.producer(second))
    add(series, seriesOf.voterMasks(first))
    needCandidate(add, second)
    needWealth(add, first)
    return
  }
  if (first === undefined || name === 'stat' || name === 'topupCandidateBonus') return
  add(producers, first)
  if (name === 'candidateWithdraw' || name === 'topupVoterBonus') {
    needCandidate(add, first)
    add(series, seriesOf.rewards(first))
  }
  if (name === 'applyRegister' || name === 'updateProducer' || name === 'initProducer')
    if (second !== undefined) add(producerKeys, second)
}

/** State of the bonuses credited to a producer and its voters. */
const needCandidate = (add: Add, producer: string): void => {
  add(producers, producer)
  add(series, seriesOf.votersCoefficient(producer))
  add(series, seriesOf.candidatesCoefficient)
  add(series, seriesOf.candidateMask(producer))
}

const needCode = (add: Add, { name, args }: Call, tx: Transaction): void => {
  const first = textAt(args ?? [], 0) ?? ''
  const id = name === 'setCode' ? contractIdOf(tx.hash) : first
  if (name !== 'setCode' && name !== 'initSetCode' && name !== 'updateNativeCode') return
  add(contracts, id)
  add(lists, listOf.contracts)
  needWealth(add, id)
}
