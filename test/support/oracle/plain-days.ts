import { toUnits } from '#chain/amount.ts'
import type { Block } from '#chain/block.ts'
import { readReceipts } from './receipts.ts'

/** The figures of each UTC day, computed from the blocks alone, without RAM prices. Independent of `src/derive`. */
export type PlainDay = ReturnType<typeof nothing>

export function plainDays(blocks: Iterable<Block>): ReadonlyMap<string, PlainDay> {
  const days = new Map<string, PlainDay>()
  const table = producerTable()
  let second = { at: -1n, transactions: 0 }
  for (const block of blocks) {
    const date = new Date(Number(block.time / 1_000_000n)).toISOString().slice(0, 10)
    const day: PlainDay = days.get(date) ?? nothing()
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
    for (const { receipt } of block.transactions) day.gas_usage += receipt.gasUsage
    const applied = { ...block, transactions: block.transactions.filter(({ delay }) => delay === 0n) }
    addEffects(day, applied)
    table.see(applied)
    day.votes = table.votes()
  }
  return days
}

const nothing = () => ({
  blocks: 0,
  transactions: 0,
  failed: 0,
  actions: 0,
  movements: 0,
  new_accounts: 0,
  new_contracts: 0,
  gas_usage: 0n,
  iost_moved: 0n,
  ram_fees: 0n,
  votes: 0n,
  highest_tps: 0,
})

function addEffects(day: PlainDay, block: Block): void {
  const names = /^(?:token|auth)\.iost\/(signUp|transfer|transferFreeze|issue|destroy)$/
  for (const { position, name, args } of readReceipts([block], names)) {
    if (name === 'signUp') {
      day.new_accounts += 1
      continue
    }
    const [token, from, to = '', fourth = ''] = args
    // The contribute action pays for the previous block.
    if (block.height === 0 || position > 0 || name !== 'issue' || token !== 'contribute') day.movements += 1
    if (token !== 'iost') continue
    const amount = toUnits(name === 'issue' || name === 'destroy' ? to : fourth, 8)
    day.iost_moved += amount
    if (from === 'ram.iost' && to === 'deadaddr') day.ram_fees += amount
  }
  for (const { actions, receipt } of block.transactions)
    for (const { contract, actionName } of receipt.statusCode === 'SUCCESS' ? actions : [])
      if (contract === 'system.iost' && /^(?:setCode|initSetCode)$/.test(actionName)) day.new_contracts += 1
}

function producerTable() {
  const registered = new Set<string>()
  const votes = new Map<string, bigint>()
  return {
    see: (block: Block): void => {
      for (const { actionName, data } of block.height === 0 ? (block.transactions[0]?.actions ?? []) : [])
        if (actionName === 'initProducer') registered.add(String(JSON.parse(data)[0]))
      const names = /^vote_producer\.iost\/(applyRegister|unregister|vote|unvote)$/
      for (const { name, args } of readReceipts([block], names)) {
        const [first = '', second = '', third = ''] = args
        if (name === 'applyRegister') registered.add(first)
        else if (name === 'unregister') registered.delete(first)
        else {
          const units = toUnits(third, 8)
          votes.set(second, (votes.get(second) ?? 0n) + (name === 'vote' ? units : -units))
        }
      }
    },
    votes: (): bigint => [...registered].reduce((sum, name) => sum + (votes.get(name) ?? 0n), 0n),
  }
}
