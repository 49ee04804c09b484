import { unitsOf } from '#chain/amount.ts'
import type { ExactJson } from '#chain/json.ts'
import { voteId, votes } from '#indices/vote.ts'
import { changeProducer, producerOf } from './producer-draft.ts'
import { textAt } from './receipt.ts'
import type { TxScope } from './scope.ts'

const DECIMALS = 8

/** `vote [voter, producer, amount]`, `unvote` likewise, `voteFor [payer, voter, producer, amount]`. */
export const applyVote = (at: TxScope, name: string, args: readonly ExactJson[]): void => {
  const first = name === 'voteFor' ? 1 : 0
  const voter = textAt(args, first)
  const producer = textAt(args, first + 1)
  const amount = unitsOf(textAt(args, first + 2) ?? '', DECIMALS)
  if (voter === undefined || producer === undefined || amount === undefined) return
  const { state, ledger } = at.scope
  const id = voteId(producer, voter)
  const before = state.get(votes, id)?.votes ?? 0n
  const more = name === 'unvote' ? -amount : amount
  const after = before + more
  state.put(votes, { id, producer, voter, votes: after })
  const doc = producerOf(state, producer)
  const voters = Number(after > 0n) - Number(before > 0n)
  changeProducer(at.scope, producer, { votes: doc.votes + more, voter_count: doc.voter_count + voters })
  ledger.addVotes(voter, more)
}
