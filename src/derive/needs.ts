import { contributeIn, isBase } from '#chain/base-transaction.ts'
import type { LoadedBlock, Transaction } from '#chain/block.ts'
import { directVote } from '#chain/direct-vote.ts'
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
import type { Key } from '#indices/registry.ts'
import { resources } from '#indices/resource.ts'
import { series, seriesOf } from '#indices/series.ts'
import { STATISTICS, statistics } from '#indices/statistics.ts'
import { tokens } from '#indices/token.ts'
import { tokenDayId, tokenDays } from '#indices/token-day.ts'
import { voteId, votes } from '#indices/vote.ts'
import { wealth } from '#indices/wealth.ts'
import { dayId } from './day.ts'
import { pledgedKey } from './gas.ts'
import { type NeededKeys, neededKeys } from './needed-keys.ts'
import { accountsOf, type Call, partiesOf } from './parties.ts'
import { paidByVotes, withdrawalsIn } from './producer.ts'
import { argumentsOf, type ParsedReceipt, parseReceipt, repetitionsOf, textAt } from './receipt.ts'
import { needToken721 } from './token721.ts'

/**
 * Keys of the state that deriving the blocks will need, as far as they show, each once: nearly all of it. State that
 * only other state identifies (the owner of a contract that pays RAM, the owner of the signing key) is requested by
 * `MissingState`.
 */
export const needsOf = (blocks: Iterable<LoadedBlock>): readonly Key[] => {
  const needs = neededKeys()
  for (const loaded of blocks) needBlock(needs, loaded)
  return needs.keys
}

const needBlock = (needs: NeededKeys, { block }: LoadedBlock): void => {
  needs.add(statistics, STATISTICS)
  const date = dayId(block.time)
  needs.add(days, date)
  needs.add(producerKeys, block.witness)
  const paid = contributeIn(block)
  if (paid !== undefined) needPaid(needs, paid.to)
  else
    block.transactions.forEach((tx, position) => {
      needTransaction(needs, tx, { date, base: isBase(block, position) })
    })
}

/** State for a block in which a witness is paid and nothing else happens. */
const needPaid = (needs: NeededKeys, witness: string): void => {
  if (!needs.isFirst('paid', witness)) return
  needBalance(needs, 'contribute', witness)
  needs.add(series, seriesOf.holders('contribute'))
  needs.add(series, seriesOf.supply('contribute'))
  needs.add(producers, witness)
}

/** State needed to release the due amounts of a balance, by its id. */
export const needsOfDue = (id: string): readonly Key[] => {
  const needs = neededKeys()
  const slash = id.indexOf('/')
  needBalance(needs, id.slice(0, slash), id.slice(slash + 1))
  needs.add(series, seriesOf.holders(id.slice(0, slash)))
  return needs.keys
}

/** `date`: id of the transaction's day; `base`: whether it is the base transaction of its block. */
type Of = { readonly date: string; readonly base: boolean }

const needTransaction = (needs: NeededKeys, tx: Transaction, of: Of): void => {
  if (!of.base) needActions(needs, tx)
  if (applies(tx)) needReceipts(needs, tx, of)
  needRam(needs, tx)
}

const needActions = (needs: NeededKeys, tx: Transaction): void => {
  if (tx.receipt.gasUsage !== 0n) needs.add(resources, tx.publisher)
  const caller = isPossibleName(tx.publisher) ? tx.publisher : undefined
  for (const action of tx.actions) {
    const call: Call = { contract: action.contract, name: action.actionName, args: argumentsOf(action) }
    needRow(needs, tx, { call, caller })
    if (call.contract === 'vote_producer.iost') needProducer(needs, call.name, call.args ?? [])
    if (call.contract === 'system.iost') needCode(needs, call, tx)
    const vote = directVote(action)
    if (vote !== undefined) needProducer(needs, vote.name, vote.args)
  }
}

const needReceipts = (needs: NeededKeys, tx: Transaction, { date, base }: Of): void => {
  const isSaidByAction = repetitionsOf(tx)
  for (const [at, receipt] of tx.receipt.receipts.entries()) {
    const parsed = parseReceipt(receipt)
    needReceipt(needs, parsed, tx)
    if (parsed.contract === 'vote_producer.iost' && parsed.name === 'voterWithdraw')
      needWithdrawal(needs, parsed, paidByVotes(tx.receipt.receipts[at + 1]))
    // The contribute of a base transaction makes no row.
    const row = isMovement(parsed.contract, parsed.name) && !(base && textAt(parsed.args, 0) === 'contribute')
    if (!row) continue
    if (base || !isSaidByAction(parsed, receipt.content)) needRow(needs, tx, { call: parsed, caller: undefined })
    if (parsed.contract === 'token.iost') needMoved(needs, parsed, date)
  }
}

const needRam = (needs: NeededKeys, tx: Transaction): void => {
  for (const [payer] of tx.receipt.ramUsage) {
    if (payer.endsWith('.iost') || !needs.isFirst('ram', payer)) continue
    if (isContractId(payer)) needs.add(contracts, payer)
    else {
      needBalance(needs, 'ram', payer)
      needs.add(series, seriesOf.holders('ram'))
      needs.add(resources, payer)
    }
  }
}

/** An action or a receipt that makes a row; only an action has a `caller`. */
type RowToCome = { readonly call: Call; readonly caller: string | undefined }

const needRow = (needs: NeededKeys, tx: Transaction, { call, caller }: RowToCome): void => {
  const { contract, name: action } = call
  const failed = hasFailed(tx)
  for (const name of accountsOf(partiesOf(call, tx.publisher), caller)) {
    if (needs.isFirst('account', name)) needs.add(lists, listOf.account(name))
    if (failed && needs.isFirst('failed', name)) needs.add(lists, listOf.failed(name))
  }
  if (!isContractId(contract)) return
  needs.add(contracts, contract)
  if (needs.isFirst('contract', contract)) needs.add(lists, listOf.contract(contract))
  if (!isActionName(action)) return
  if (needs.isFirst('action', contract, action)) needs.add(lists, listOf.action(contract, action))
  if (caller === undefined) return
  const funcName = `${contract}/${action}`
  if (needs.isFirst('called', caller, funcName)) needs.add(lists, listOf.called(caller, funcName))
}

/** Lists of a token movement, the same for a row of the receipt and for one of the action that owns it. */
const needMoved = (needs: NeededKeys, parsed: ParsedReceipt, date: string): void => {
  const token = textAt(parsed.args, 0)
  if (token === undefined) return
  if (needs.isFirst('token', token)) needs.add(lists, listOf.token(token))
  const isTransfer = parsed.name === 'transfer' || parsed.name === 'transferFreeze'
  if (isTransfer && needs.isFirst('token-day', token, date)) needs.add(tokenDays, tokenDayId(token, date))
  // If a party is not a possible name, the row belongs to the publisher instead, which `MissingState` requests.
  const { from, to } = partiesOf(parsed, '')
  for (const name of [from, to])
    if (isPossibleName(name) && needs.isFirst('moved', name, token)) needs.add(lists, listOf.moved(name, token))
  if (to === from || !isPossibleName(to) || !needs.isFirst('received', to, token)) return
  needs.add(lists, listOf.received(to))
  needs.add(lists, listOf.receivedOf(to, token))
}

const needBalance = (needs: NeededKeys, token: string, owner: string): void => {
  if (!needs.isFirst('balance', owner, token)) return
  needs.add(tokens, token)
  if (!canHoldTokens(owner)) return
  const id = balanceId(token, owner)
  needs.add(balances, id)
  needs.add(series, seriesOf.balance(id))
  if (token === 'iost' && !isSystemContract(owner)) needs.add(wealth, owner)
}

/** An owner's wealth is computed from its balance. */
const needWealth = (needs: NeededKeys, owner: string): void => {
  needs.add(wealth, owner)
  needs.add(balances, balanceId('iost', owner))
}

const needReceipt = (needs: NeededKeys, parsed: ParsedReceipt, tx: Transaction): void => {
  switch (parsed.contract) {
    case 'token.iost':
      needToken(needs, parsed)
      return
    case 'gas.iost':
      needPledge(needs, parsed.args)
      return
    case 'token721.iost':
      needToken721(needs.add, parsed)
      return
    case 'auth.iost':
      needAccount(needs, parsed, tx)
      return
    case 'vote_producer.iost':
      needProducer(needs, parsed.name, parsed.args)
      if (parsed.name === 'topupCandidateBonus') needs.add(series, seriesOf.candidatesCoefficient)
      return
  }
}

const needToken = (needs: NeededKeys, { name, args }: ParsedReceipt): void => {
  const [token, first] = [textAt(args, 0), textAt(args, 1)]
  if (token === undefined) return
  if (name === 'create' || name === 'recycle' || !isMovement('token.iost', name)) {
    needs.add(tokens, token)
    return
  }
  if (needs.isFirst('holders', token)) needs.add(series, seriesOf.holders(token))
  if (name === 'issue' || name === 'destroy') needs.add(series, seriesOf.supply(token))
  if (first !== undefined) needBalance(needs, token, first)
  const to = name === 'transfer' || name === 'transferFreeze' ? textAt(args, 2) : undefined
  if (to !== undefined) needTransfer(needs, token, { from: first, to })
  // The contribute of a base transaction goes to the parent's witness, most likely this block's too.
  else if (token === 'contribute' && name === 'issue' && first !== undefined) needs.add(producers, first)
}

const needTransfer = (
  needs: NeededKeys,
  token: string,
  { from, to }: { readonly from: string | undefined; readonly to: string },
): void => {
  needBalance(needs, token, to)
  if (token === 'ram') for (const owner of [from, to]) if (owner !== undefined) needs.add(resources, owner)
  if (token !== 'iost' || from !== 'bonus.iost') return
  needs.add(producers, to)
  needs.add(series, seriesOf.rewards(to))
}

const needPledge = (needs: NeededKeys, args: ParsedReceipt['args']): void => {
  const [pledger, beneficiary] = [textAt(args, 0), textAt(args, 1)]
  if (pledger === undefined || beneficiary === undefined) return
  needs.add(resources, beneficiary)
  needs.add(pledges, pledgeId(pledger, beneficiary))
  needs.add(series, pledgedKey(pledger, beneficiary))
}

const needAccount = (needs: NeededKeys, { name, args }: ParsedReceipt, tx: Transaction): void => {
  const account = textAt(args, 0)
  if (account === undefined) return
  needs.add(accounts, account)
  if (name !== 'signUp') return
  needs.add(lists, listOf.created(tx.publisher))
  needWealth(needs, account)
}

/** The receipt does not name producers that owe the voter nothing; their state is requested by `MissingState`. */
const needWithdrawal = (needs: NeededKeys, { value }: ParsedReceipt, voter: string | undefined): void => {
  for (const [producer] of withdrawalsIn(value)) {
    needs.add(series, seriesOf.rewards(producer))
    needs.add(series, seriesOf.votersCoefficient(producer))
  }
  if (voter === undefined) return
  needs.add(series, seriesOf.voter(voter))
  needs.add(series, seriesOf.voterMasks(voter))
}

/** Actions are included: before receipts existed, there was nothing else. */
const needProducer = (needs: NeededKeys, name: string, args: ParsedReceipt['args']): void => {
  const first = textAt(args, name === 'voteFor' ? 1 : 0)
  const second = textAt(args, name === 'voteFor' ? 2 : 1)
  if (name === 'vote' || name === 'unvote' || name === 'voteFor') {
    if (first === undefined || second === undefined) return
    needs.add(votes, voteId(second, first))
    needs.add(series, seriesOf.voter(first))
    needs.add(series, seriesOf.producer(second))
    needs.add(series, seriesOf.voterMasks(first))
    needCandidate(needs, second)
    needWealth(needs, first)
    return
  }
  if (first === undefined || name === 'stat' || name === 'topupCandidateBonus') return
  needs.add(producers, first)
  if (name === 'candidateWithdraw' || name === 'topupVoterBonus') {
    needCandidate(needs, first)
    needs.add(series, seriesOf.rewards(first))
  }
  if (name === 'applyRegister' || name === 'updateProducer' || name === 'initProducer')
    if (second !== undefined) needs.add(producerKeys, second)
}

/** State of the bonuses credited to a producer and its voters. */
const needCandidate = (needs: NeededKeys, producer: string): void => {
  needs.add(producers, producer)
  needs.add(series, seriesOf.votersCoefficient(producer))
  needs.add(series, seriesOf.candidatesCoefficient)
  needs.add(series, seriesOf.candidateMask(producer))
}

const needCode = (needs: NeededKeys, { name, args }: Call, tx: Transaction): void => {
  const first = textAt(args ?? [], 0) ?? ''
  const id = name === 'setCode' ? contractIdOf(tx.hash) : first
  if (name !== 'setCode' && name !== 'initSetCode' && name !== 'updateNativeCode') return
  needs.add(contracts, id)
  needs.add(lists, listOf.contracts)
  needWealth(needs, id)
}
