import { IOST_DECIMALS, parseUnitsLeniently, roundToUnits } from './amount.ts'
import type { Action, Receipt, Transaction } from './block.ts'
import { parseChainArguments, splitFuncName } from './effects.ts'
import { type ExactJson, writeJson } from './json.ts'

const NAMES: ReadonlySet<string> = new Set(['vote', 'unvote', 'voteFor'])

/**
 * A vote for a producer that was given to vote.iost itself, with the arguments of the action of vote_producer.iost that
 * has its name; undefined: the action is none. Until vote.iost 1.0.1 and its setCanVote, anyone could give one.
 */
export function directVote(action: Action): { readonly name: string; readonly args: readonly ExactJson[] } | undefined {
  if (action.contract !== 'vote.iost' || !NAMES.has(action.actionName)) return undefined
  const [vote, ...args] = parseChainArguments(action.data) ?? []
  // The vote for producers is the first one that genesis makes (`config/genesis/contract/vote_producer.js` _initVote).
  return vote === '1' ? { name: action.actionName, args } : undefined
}

/**
 * The decimal arithmetic with which vote_producer.iost shares bonuses: `×` and `+` are exact, a quotient is
 * truncated to 50 decimals, a payment to 8. Amounts and votes are in 10^-8 IOST, coefficients in 10^-50,
 * masks and earnings in 10^-58. Earnings are coefficient × votes − mask.
 */

/** Scale of a quotient: 50 decimals. */
const ONE = 10n ** 50n
/** Votes below which a producer is not a candidate: 2,100,000 IOST. */
const CANDIDATE_VOTES = 210_000_000_000_000n

/** The growth of a coefficient when some votes share an amount; without votes, nobody gets the amount. */
export const gainedCoefficient = (amount: bigint, votes: bigint): bigint => (votes > 0n ? (amount * ONE) / votes : 0n)

/** The votes with which a producer shares in the bonuses of candidates. */
export const candidateVotes = (votes: bigint): bigint => (votes < CANDIDATE_VOTES ? 0n : votes)

/** The payable part of earnings, in 10^-8 IOST; further digits are cut off. */
export const truncatePayable = (earned: bigint): bigint => earned / ONE

/** Contracts that hold votes and pledges, which still belong to the account. */
export const STAKE_KEEPERS: ReadonlySet<string> = new Set(['vote.iost', 'gas.iost'])

const VOTE_PRODUCER = 'vote_producer.iost'

/** A movement of IOST between an account and a keeper. */
type Staked = { readonly from: string; readonly to: string; readonly amount: string }

/**
 * Tests rows of a transaction: whether they moved IOST that an account voted with or pledged, or took back from a vote
 * or a pledge. A transfer to the keeper is none of them, nor is a poll of a user or its deposit. `receipt`: the position
 * of a row's receipt if no action owns it; else the row is that of action `index`.
 */
export function findStakes(
  tx: Transaction,
): (row: { readonly index: number; readonly receipt?: number | undefined }) => boolean {
  const stakes = stakePositions(tx)
  if (stakes.size === 0) return () => false
  const owned = matchOwnReceipts(tx)
  return ({ index, receipt }) => stakes.has(receipt ?? owned.get(index) ?? -1)
}

/**
 * The positions of the receipts that moved a stake. The contract writes its own receipt directly after that of the
 * movement. Before vote_producer.iost 1.0.6 votes had no receipts; the action itself is then the evidence.
 */
function stakePositions(tx: Transaction): ReadonlySet<number> {
  const { receipts } = tx.receipt
  const silent = new Set(receipts.some(isVoteReceipt) ? [] : tx.actions.flatMap(readSilentVote).map(stakeText))
  const positions = new Set<number>()
  for (const [at, receipt] of receipts.entries()) {
    const moved = readMovement(receipt)
    const next = receipts[at + 1]
    const stake = next && readStake(next.funcName, parseChainArguments(next.content))
    const isStake = moved !== undefined && stake?.from === moved.from && stake.to === moved.to
    if (moved !== undefined && (isStake || silent.has(stakeText(moved)))) positions.add(at)
  }
  return positions
}

/** The vote that only an action shows; none: it is no vote. */
function readSilentVote(action: Action): Staked | readonly [] {
  const vote = directVote(action)
  if (vote === undefined && action.contract !== VOTE_PRODUCER) return []
  return readStake(`${VOTE_PRODUCER}/${action.actionName}`, vote?.args ?? parseChainArguments(action.data)) ?? []
}

function readMovement({ funcName, content }: Receipt): Staked | undefined {
  if (funcName !== 'token.iost/transfer' && funcName !== 'token.iost/transferFreeze') return undefined
  const [token, from, to, amount] = parseChainArguments(content) ?? []
  return token === 'iost' ? parseStake(from, to, amount) : undefined
}

/** The movement that a receipt of a keeper reports; undefined: it reports none. */
function readStake(funcName: string, args: readonly ExactJson[] = []): Staked | undefined {
  const [first, second, third, fourth] = args
  switch (funcName) {
    case 'vote_producer.iost/vote':
      return parseStake(first, 'vote.iost', third)
    case 'vote_producer.iost/unvote':
      return parseStake('vote.iost', first, third)
    case 'vote_producer.iost/voteFor':
      // A vote that is paid for another account belongs to that account.
      return first === second ? parseStake(first, 'vote.iost', fourth) : undefined
    case 'gas.iost/pledge':
      return parseStake(first, 'gas.iost', third)
    case 'gas.iost/unpledge':
      return parseStake('gas.iost', first, third)
    default:
      return undefined
  }
}

function parseStake(...[from, to, amount]: readonly (ExactJson | undefined)[]): Staked | undefined {
  return typeof from === 'string' && typeof to === 'string' && typeof amount === 'string'
    ? { from, to, amount }
    : undefined
}

function stakeText({ from, to, amount }: Staked): string {
  return JSON.stringify([from, to, String(roundToUnits(amount, IOST_DECIMALS))])
}

function isVoteReceipt({ funcName }: Receipt): boolean {
  const { contract, name } = splitFuncName(funcName)
  return contract === VOTE_PRODUCER && NAMES.has(name)
}

/** The receipts of actions that are themselves transfers of IOST. Equal receipts belong to equal actions in order. */
function matchOwnReceipts({ actions, receipt }: Transaction): ReadonlyMap<number, number> {
  const positions = new Map<string, number[]>()
  for (const [at, { funcName, content }] of receipt.receipts.entries()) {
    const text = transferText(funcName, content)
    const others = text === undefined ? undefined : positions.get(text)
    if (others !== undefined) others.push(at)
    else if (text !== undefined) positions.set(text, [at])
  }
  const owned = new Map<number, number>()
  for (const [index, { contract, actionName, data }] of actions.entries()) {
    const at = positions.get(transferText(`${contract}/${actionName}`, data) ?? '')?.shift()
    if (at !== undefined) owned.set(index, at)
  }
  return owned
}

/** A text that is equal for equal transfers of IOST; undefined: it is no such transfer. */
function transferText(funcName: string, data: string): string | undefined {
  if (funcName !== 'token.iost/transfer') return undefined
  const args = parseChainArguments(data) ?? []
  const amount = args[3]
  return args[0] === 'iost' && typeof amount === 'string'
    ? writeJson(args.with(3, String(parseUnitsLeniently(amount, IOST_DECIMALS))))
    : undefined
}
