import { toUnits } from '#chain/amount.ts'
import type { Receipt, Transaction } from '#chain/block.ts'

/**
 * The bonuses that vote_producer.iost owes voters and producers, in the contract's own decimal arithmetic:
 * `×` and `+` are exact, a quotient is cut to 50 decimals, a result to 8. Amounts and votes are in 10^-8
 * IOST. Independent of `src/derive`. `paid`: the amount that a withdrawal sent.
 */
type BonusEvent =
  /** A vote. Negative: votes that were withdrawn. */
  | { readonly kind: 'vote'; readonly voter: string; readonly producer: string; readonly change: bigint }
  /** topupVoterBonus: an amount for the voters of a producer. */
  | { readonly kind: 'voters'; readonly producer: string; readonly amount: bigint }
  /** topupCandidateBonus: an amount for all candidates. */
  | { readonly kind: 'candidates'; readonly amount: bigint }
  | { readonly kind: 'voterWithdraw'; readonly voter: string; readonly paid: bigint }
  /** A producer withdrew its half. `amount` is the other half, for its voters. */
  | { readonly kind: 'candidateWithdraw'; readonly producer: string; readonly amount: bigint; readonly paid: bigint }

const BANK = 'vote_producer.iost'

/** The bonus events in the receipts of a transaction, in order. */
export const bonusEvents = ({ receipt }: Transaction): readonly BonusEvent[] =>
  receipt.statusCode === 'SUCCESS'
    ? receipt.receipts.flatMap((each, at) => eventOf(each, receipt.receipts[at + 1]) ?? [])
    : []

function eventOf({ funcName, content }: Receipt, next: Receipt | undefined): BonusEvent | undefined {
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
      const [, from, voter = '', amount = ''] = JSON.parse(next?.content ?? '[]') as readonly string[]
      return from === BANK ? { kind: 'voterWithdraw', voter, paid: units(amount) } : undefined
    }
    default:
      return undefined
  }
}

const CUT = 50n
const ONE = 10n ** CUT
const CANDIDATE_VOTES = 210_000_000_000_000n

/** The votes and mask of a pair of producer and voter, or of a candidate: `votes` in 10^-8, `mask` in 10^-58. */
type Claim = { votes: bigint; mask: bigint }

function claimIn(claims: Map<string, Claim>, name: string): Claim {
  const known = claims.get(name) ?? { votes: 0n, mask: 0n }
  claims.set(name, known)
  return known
}

/** Replays the events of a chain from the first one. */
export function voteBonuses() {
  const coefs = new Map<string, bigint>()
  const ballots = new Map<string, Map<string, Claim>>()
  const candidates = candidatesOf()
  const coef = (producer: string): bigint => coefs.get(producer) ?? 0n
  const claim = (voter: string, producer: string): Claim => {
    const own = ballots.get(voter) ?? new Map<string, Claim>()
    ballots.set(voter, own)
    return claimIn(own, producer)
  }
  const add = (producer: string, amount: bigint): void => {
    const votes = candidates.votes(producer)
    if (votes > 0n) coefs.set(producer, coef(producer) + (amount * ONE) / votes)
  }
  return {
    /** The stored numbers of the contract: `coef` in 10^-50, `mask` in 10^-58. */
    coef,
    mask: (producer: string, voter: string): bigint => ballots.get(voter)?.get(producer)?.mask ?? 0n,
    /** The bonus of a producer. A withdrawal pays it half, and its voters the rest. */
    ofCandidate: (producer: string): bigint => cut(candidates.earning(producer)),
    /** The amount that a withdrawal would pay a voter, and the share of each producer in it, each cut separately. */
    ofVoter: (voter: string) => earned(ballots.get(voter), coef),
    apply: (event: BonusEvent): void => {
      switch (event.kind) {
        case 'vote': {
          const own = claim(event.voter, event.producer)
          own.votes += event.change
          own.mask += coef(event.producer) * event.change
          candidates.vote(event.producer, event.change)
          return
        }
        case 'voters':
          add(event.producer, event.amount)
          return
        case 'candidates':
          candidates.add(event.amount)
          return
        case 'voterWithdraw':
          for (const [producer, own] of ballots.get(event.voter) ?? [])
            if (own.votes > 0n) own.mask = coef(producer) * own.votes
          return
        case 'candidateWithdraw':
          candidates.withdraw(event.producer)
          add(event.producer, event.amount)
      }
    },
  }
}

/** The contract skips pairs without votes: an earned bonus waits until the voter votes for the producer again. */
function earned(claims: ReadonlyMap<string, Claim> | undefined, coef: (producer: string) => bigint) {
  const parts = new Map<string, bigint>()
  let total = 0n
  for (const [producer, { votes, mask }] of claims ?? []) {
    if (votes === 0n) continue
    const earning = coef(producer) * votes - mask
    total += earning
    if (earning > 0n) parts.set(producer, cut(earning))
  }
  return { total: cut(total), parts }
}

/** Candidates share a bonus in proportion to their votes while these reach the threshold. */
function candidatesOf() {
  const claims = new Map<string, Claim>()
  let coef = 0n
  let all = 0n
  const key = (votes: bigint): bigint => (votes < CANDIDATE_VOTES ? 0n : votes)
  return {
    votes: (producer: string): bigint => claimIn(claims, producer).votes,
    vote: (producer: string, change: bigint): void => {
      const own = claimIn(claims, producer)
      const more = key(own.votes + change) - key(own.votes)
      own.votes += change
      own.mask += coef * more
      all += more
    },
    add: (amount: bigint): void => {
      if (all > 0n) coef += (amount * ONE) / all
    },
    withdraw: (producer: string): void => {
      const own = claimIn(claims, producer)
      own.mask = coef * key(own.votes)
    },
    earning: (producer: string): bigint => {
      const { votes, mask } = claimIn(claims, producer)
      return coef * key(votes) - mask
    },
  }
}

/** From 10^-58 to 10^-8, cutting off further digits. */
const cut = (value: bigint): bigint => value / ONE
