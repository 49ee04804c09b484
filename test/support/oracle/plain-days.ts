import { toUnits } from '#chain/amount.ts'
import type { Block, Transaction } from '#chain/block.ts'

/**
 * The figures of each UTC day, computed from the blocks alone by their descriptions. Independent of
 * `src/derive`. RAM prices are left out: they are the chain's own at some block.
 */
export type PlainDay = ReturnType<typeof nothing>

const MOVES = /^token\.iost\/(?:transfer|transferFreeze|issue|destroy)$/

export function plainDays(blocks: Iterable<Block>): ReadonlyMap<string, PlainDay> {
  const days = new Map<string, PlainDay>()
  const table = producerTable()
  let second = { at: -1n, transactions: 0 }
  for (const block of blocks) {
    const date = new Date(Number(block.time / 1_000_000n)).toISOString().slice(0, 10)
    const day = days.get(date) ?? nothing()
    days.set(date, day)
    day.blocks += 1
    const own = block.transactions.slice(block.height === 0 ? 0 : 1)
    if (block.time / 1_000_000_000n !== second.at) second = { at: block.time / 1_000_000_000n, transactions: 0 }
    second.transactions += own.length
    day.highest_tps = Math.max(day.highest_tps, second.transactions)
    day.transactions += own.length
    for (const tx of own) {
      day.actions += tx.actions.length
      if (tx.receipt.statusCode !== 'SUCCESS') day.failed += 1
    }
    for (const tx of block.transactions) {
      day.gas_usage += tx.receipt.gasUsage
      if (tx.receipt.statusCode !== 'SUCCESS' || tx.delay > 0n) continue
      addEffects(day, tx)
      table.see(block, tx)
    }
    // The contribute action that pays for the previous block.
    if (block.height > 0 && lastContribute(block.transactions[0])) day.movements -= 1
    day.votes = table.votes()
  }
  return days
}

const nothing = () => ({
  ...{ blocks: 0, transactions: 0, failed: 0, actions: 0, movements: 0, new_accounts: 0, new_contracts: 0 },
  ...{ gas_usage: 0n, iost_moved: 0n, ram_fees: 0n, votes: 0n, highest_tps: 0 },
})

function argumentsOf(text: string): readonly string[] {
  const value: unknown = JSON.parse(text)
  return Array.isArray(value) ? value.map(String) : []
}

function addEffects(day: PlainDay, tx: Transaction): void {
  for (const { funcName, content } of tx.receipt.receipts) {
    if (funcName === 'auth.iost/signUp') day.new_accounts += 1
    if (!MOVES.test(funcName)) continue
    day.movements += 1
    const [token, from, to] = argumentsOf(content)
    if (token !== 'iost') continue
    const [, second = '', third = '', fourth = ''] = argumentsOf(content)
    const amount = toUnits(/issue|destroy/.test(funcName) ? third : fourth, 8)
    day.iost_moved += amount
    if (from === 'ram.iost' && to === 'deadaddr' && second !== '') day.ram_fees += amount
  }
  for (const { contract, actionName } of tx.actions)
    if (contract === 'system.iost' && /^(?:setCode|initSetCode)$/.test(actionName)) day.new_contracts += 1
}

const lastContribute = (base: Transaction | undefined): boolean =>
  base?.publisher === 'base.iost' &&
  base.receipt.receipts.some(
    ({ funcName, content }) => funcName === 'token.iost/issue' && argumentsOf(content)[0] === 'contribute',
  )

/** The producers in the table, and their votes. */
function producerTable() {
  const registered = new Set<string>()
  const votes = new Map<string, bigint>()
  return {
    see: ({ height }: Block, tx: Transaction): void => {
      if (height === 0)
        for (const { actionName, data } of tx.actions)
          if (actionName === 'initProducer') registered.add(argumentsOf(data)[0] ?? '')
      for (const { funcName, content } of tx.receipt.receipts) {
        const [contract, name = ''] = funcName.split('/')
        if (contract !== 'vote_producer.iost') continue
        const [first = '', second = '', third = ''] = argumentsOf(content)
        if (name === 'applyRegister') registered.add(first)
        if (name === 'unregister') registered.delete(first)
        if (name !== 'vote' && name !== 'unvote') continue
        const units = toUnits(third, 8)
        votes.set(second, (votes.get(second) ?? 0n) + (name === 'vote' ? units : -units))
      }
    },
    votes: (): bigint => [...registered].reduce((sum, name) => sum + (votes.get(name) ?? 0n), 0n),
  }
}
