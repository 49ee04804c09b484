import { formatUnits, parseUnitsLeniently, toUnits } from '#chain/amount.ts'
import type { Block, Receipt, Transaction } from '#chain/block.ts'
import { argumentsOf, moveOf } from './receipts.ts'

/** A line about IOST in an account's book: hash of the transaction, amount with its sign, label. */
export type PlainLine = `${string} ${string} ${string}`

type Move = { readonly from: string; readonly to: string; readonly units: bigint; label: 'stake' | 'Reward' | '' }

const DECIMALS = 8
const unitsOf = (text = ''): bigint => parseUnitsLeniently(text, DECIMALS) ?? 0n

function moveIn(receipt: Receipt): Move | undefined {
  const move = moveOf(receipt)
  if (move?.token !== 'iost') return undefined
  return { from: move.from, to: move.to, units: toUnits(move.amount, DECIMALS), label: '' }
}

/** What the movements around a receipt were for: label, parties, the argument with the amount. */
type Told = (args: readonly string[]) => readonly [label: 'stake' | 'Reward', from: string, to: string, amount: string]

const TOLD = new Map<string, Told>([
  ['vote_producer.iost/vote', ([voter = '', , amount = '']) => ['stake', voter, 'vote.iost', amount]],
  ['vote_producer.iost/unvote', ([voter = '', , amount = '']) => ['stake', 'vote.iost', voter, amount]],
  ['gas.iost/pledge', ([pledger = '', , amount = '']) => ['stake', pledger, 'gas.iost', amount]],
  ['gas.iost/unpledge', ([pledger = '', , amount = '']) => ['stake', 'gas.iost', pledger, amount]],
  ['vote_producer.iost/candidateWithdraw', ([to = '', amount = '']) => ['Reward', 'vote_producer.iost', to, amount]],
])

/** Labels the nearest movement of that kind which has no label yet. */
function mark(moves: readonly (Move | undefined)[], label: Move['label'], wanted: Partial<Move>): void {
  const found = moves.find(
    move =>
      move?.label === '' &&
      (wanted.from ?? move.from) === move.from &&
      (wanted.to ?? move.to) === move.to &&
      (wanted.units ?? move.units) === move.units,
  )
  if (found === undefined)
    throw new Error(`No movement for a ${label}: ${JSON.stringify(wanted, (_, each) => String(each))}`)
  found.label = label
}

/** The movements of IOST by a transaction, labelled by the receipts that say what they were for. */
function movesOf({ receipt: { receipts } }: Transaction): readonly Move[] {
  const moves = receipts.map(moveIn)
  for (const [at, receipt] of receipts.entries()) {
    const before = moves.slice(0, at).toReversed()
    const after = moves.slice(at)
    if (receipt.funcName === 'vote_producer.iost/voterWithdraw') {
      mark(after, 'Reward', { from: 'vote_producer.iost' })
      continue
    }
    const told = TOLD.get(receipt.funcName)
    if (told !== undefined) {
      const [label, from, to, amount] = told(argumentsOf(receipt))
      mark(before, label, { from, to, units: unitsOf(amount) })
    } else if (receipt.funcName === 'token.iost/destroy') {
      const [token, to = '', amount] = argumentsOf(receipt)
      if (token === 'contribute') mark(after, 'Reward', { from: 'bonus.iost', to, units: unitsOf(amount) })
    }
  }
  return moves.flatMap(move => move ?? [])
}

/** The lines about IOST in the book of every account, from receipts alone. */
export function plainLines(blocks: Iterable<Block>): ReadonlyMap<string, readonly PlainLine[]> {
  const lines = new Map<string, PlainLine[]>()
  const add = (account: string, line: PlainLine): void => {
    const own = lines.get(account) ?? []
    lines.set(account, own)
    own.push(line)
  }
  for (const { transactions } of blocks)
    for (const tx of transactions) {
      if (tx.receipt.statusCode !== 'SUCCESS') continue
      for (const { from, to, units, label } of movesOf(tx)) {
        if (from === to || units === 0n) continue
        const amount = formatUnits(units, DECIMALS)
        const isKeeper = (name: string): boolean => name === 'vote.iost' || name === 'gas.iost'
        const sent = label === 'stake' && isKeeper(to) ? 'Add to Pool' : ''
        const received = label === 'stake' ? (isKeeper(from) ? 'Remove from Pool' : '') : label
        if (from !== '') add(from, `${tx.hash} -${amount} ${sent}`)
        if (to !== '') add(to, `${tx.hash} ${amount} ${received}`)
      }
    }
  return lines
}
