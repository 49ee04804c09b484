import { unitsOf } from '#chain/amount.ts'
import type { ExactJson } from '#chain/json.ts'
import { dayOf } from '#chain/time.ts'
import { changeProducer, producerOf } from './producer-draft.ts'
import { textAt } from './receipt.ts'
import type { Scope, TxScope } from './scope.ts'
import type { Movement } from './token.ts'

const DECIMALS = 8
/** Days of payouts kept: 30 and the current one (the period of dividend_rate). */
const DAYS = 31

/** IOST that bonus.iost sends is what a producer changed its contribute into (exchangeIOST). */
export const awardByBonus = ({ scope }: TxScope, { token, from, to, amount }: Movement): void => {
  if (token === 'iost' && from === 'bonus.iost' && to !== from) award(scope, to, amount)
}

/** `candidateWithdraw [producer, its half, voters' half]` and `topupVoterBonus [producer, amount, payer]`. */
export const applyAward = ({ scope }: TxScope, name: string, args: readonly ExactJson[]): void => {
  const producer = textAt(args, 0)
  const first = unitsOf(textAt(args, 1) ?? '', DECIMALS)
  if (producer === undefined || first === undefined) return
  if (name === 'topupVoterBonus') payVoters(scope, producer, first)
  if (name !== 'candidateWithdraw') return
  award(scope, producer, first)
  payVoters(scope, producer, unitsOf(textAt(args, 2) ?? '', DECIMALS) ?? 0n)
}

/**
 * candidateWithdraw without a receipt (vote_producer.iost before 1.0.6): what it sent to the producer, and what it sent
 * to itself for the voters. Before token.iost 1.0.3 the second left no trace; then it was as much as the first.
 */
export const awardByTransfers = (
  { scope }: TxScope,
  producer: string,
  movements: readonly Movement[],
): void => {
  const bank = 'vote_producer.iost'
  const at = movements.findIndex(
    ({ token, from, to }) => token === 'iost' && from === bank && to === producer,
  )
  const own = movements[at]
  if (own === undefined) return
  const next = movements[at + 1]
  award(scope, producer, own.amount)
  payVoters(scope, producer, next?.from === bank && next.to === bank ? next.amount : own.amount)
}

const award = (scope: Scope, account: string, amount: bigint): void =>
  changeProducer(scope, account, {
    received_award: producerOf(scope.state, account).received_award + amount,
  })

const payVoters = (scope: Scope, producer: string, amount: bigint): void => {
  const { state, block } = scope
  const day = dayOf(block.time)
  const { payouts } = producerOf(state, producer)
  const last = payouts.at(-1)
  const next =
    last?.[0] === day
      ? [...payouts.slice(0, -1), [day, String(BigInt(last[1]) + amount)] as const]
      : [...payouts, [day, String(amount)] as const]
  changeProducer(scope, producer, { payouts: next.slice(-DAYS) })
}
