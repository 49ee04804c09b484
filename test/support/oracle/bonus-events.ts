import { toUnits } from '#chain/amount.ts'
import type { Receipt, Transaction } from '#chain/block.ts'
import type { BonusEvent } from '#test/support/oracle/plain-bonus.ts'

/** The bonus events in the receipts of a transaction, in order. `paid`: the amount a withdrawal sent, in 10^-8 IOST. */
type SaidBonus = BonusEvent & { readonly paid?: bigint }

const BANK = 'vote_producer.iost'

export const bonusEvents = ({ receipt }: Transaction): readonly SaidBonus[] =>
  receipt.statusCode === 'SUCCESS'
    ? receipt.receipts.flatMap((each, at) => eventOf(each, receipt.receipts.slice(at + 1)) ?? [])
    : []

function eventOf({ funcName, content }: Receipt, behind: readonly Receipt[]): SaidBonus | undefined {
  if (!funcName.startsWith(`${BANK}/`)) return undefined
  const args = JSON.parse(content) as readonly string[]
  const [first = '', second = '', third = ''] = Array.isArray(args) ? args : []
  const units = (text: string): bigint => toUnits(text, 8)
  switch (funcName.slice(BANK.length + 1)) {
    case 'vote':
      return { kind: 'vote', voter: first, producer: second, change: units(third) }
    case 'unvote':
      return { kind: 'vote', voter: first, producer: second, change: -units(third) }
    case 'topupVoterBonus':
      return { kind: 'voters', producer: first, amount: units(second) }
    case 'topupCandidateBonus':
      return { kind: 'candidates', amount: units(first) }
    case 'candidateWithdraw':
      return { kind: 'candidateWithdraw', producer: first, amount: units(third), paid: units(second) }
    case 'voterWithdraw': {
      const [, from, voter = '', amount = ''] = JSON.parse(behind[0]?.content ?? '[]') as readonly string[]
      return from === BANK ? { kind: 'voterWithdraw', voter, paid: units(amount) } : undefined
    }
    default:
      return undefined
  }
}
