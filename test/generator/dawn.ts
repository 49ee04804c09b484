import { MOST } from './cycle-plan.ts'
import { carriedTx, delayedTx } from './delayed.ts'
import { deployTx } from './deployment.ts'
import { issue, signUp, transfer, vote } from './movements.ts'
import { FOUNDER, HUB, TOKENS } from './names.ts'
import { COLLECTIONS, collectionTx } from './nfts.ts'
import { mix } from './random.ts'
import { emptyTx, type Tx } from './transaction.ts'
import { DAWN_ACCOUNTS, DAWN_ACCOUNTS_FROM, DAWN_PER_BLOCK, DAWN_TRANSACTIONS, type World } from './world.ts'

const IOST = 100_000_000
const COIN = 1_000
const COINS = 9_000_000_000_000
/** The number of different shares. With a million accounts, many have the same balance. */
const TIERS = 40
/** Every fifth account gets no IOST, if it needs none. */
const WITHOUT_IOST = 5
const GAS = 1_234_567

const roundedUp = (value: number, to: number): number => Math.ceil(value / to) * to
const tier = ({ settings }: World, stream: number, index: number): number =>
  1 + (mix(settings.seed, stream, index) % TIERS)

/** The initial amount of an account in smallest units. It covers all that the account will ever owe at once. */
const coinsAtStart = (world: World, index: number): number =>
  roundedUp(world.needs.coin[index] ?? 0, COIN) + tier(world, 41, index) * COIN

function iostAtStart(world: World, index: number): number {
  const need = roundedUp(world.needs.iost[index] ?? 0, IOST)
  return need === 0 && index % WITHOUT_IOST === 0 ? 0 : need + (tier(world, 42, index) * IOST) / 2
}
const votesAtStart = (world: World, index: number): number =>
  roundedUp(world.needs.votes[index] ?? 0, IOST) + tier(world, 43, index) * IOST
/** Every seventh voter also votes for a second producer. */
const SECOND_EVERY = 7
const secondVotes = (index: number): number => (index % SECOND_EVERY === 1 ? 3 * IOST : 0)
const secondProducer = (world: World, index: number): string =>
  world.producers[(1 + index) % world.producers.length]?.account ?? ''

function tokenTx(which: 'coin' | 'mint', first: number): Tx {
  const token = TOKENS[which]
  const { issuer, symbol, decimals } = token
  const tx = emptyTx(issuer, GAS)
  const config = { decimal: decimals, fullName: `The ${symbol}`, canTransfer: true }
  const encoded = Buffer.from(JSON.stringify(config)).toString('base64')
  tx.actions.push({
    contract: 'token.iost',
    name: 'create',
    data: `["${symbol}","${issuer}",${COINS},${JSON.stringify(config)}]`,
    from: issuer,
    to: 'token.iost',
  })
  tx.returns.push('[]')
  tx.receipts.push({ name: 'token.iost/create', content: `["${symbol}","${issuer}",${COINS},"${encoded}"]` })
  tx.effects.push({ kind: 'create', token: symbol, decimals })
  if (first > 0) {
    const data = issue(tx, token, issuer, first, true)
    tx.actions.push({ contract: 'token.iost', name: 'issue', data, from: '', to: issuer })
    tx.returns.push('[]')
  }
  return tx
}

function hubTx(world: World): Tx {
  const tx = emptyTx(FOUNDER, GAS)
  const units = roundedUp(world.needs.coin[world.settings.holders] ?? 0, COIN) + MOST.coin
  const data = transfer(tx, TOKENS.coin, [FOUNDER, HUB], units, { own: true })
  tx.actions.push({ contract: 'token.iost', name: 'transfer', data, from: FOUNDER, to: HUB })
  tx.returns.push('[]')
  return tx
}

function nested(world: World, name: string, data: string): Tx {
  const tx = emptyTx(FOUNDER, GAS)
  const contract = world.contracts[0] ?? ''
  tx.actions.push({ contract, name, data, from: FOUNDER, to: contract })
  tx.returns.push('[""]')
  return tx
}

/** Creates accounts `from` … `to` − 1 and gives them their initial amounts. */
function accountsTx(world: World, from: number, to: number): Tx {
  const tx = nested(world, 'drop', `["${from}","${to}"]`)
  for (let index = from; index < to; index += 1) {
    const name = world.account(index)
    signUp(tx, name, world.keys[index % world.keys.length] ?? '')
    transfer(tx, TOKENS.coin, [FOUNDER, name], coinsAtStart(world, index), { memo: 'drop' })
    const votes = index < world.settings.voters ? votesAtStart(world, index) + secondVotes(index) : 0
    const iost = iostAtStart(world, index) + votes
    if (iost > 0) transfer(tx, TOKENS.iost, [FOUNDER, name], iost, { memo: 'drop' })
    const ram = world.needs.ram[index] ?? 0
    if (ram > 0) transfer(tx, TOKENS.ram, [FOUNDER, name], ram)
  }
  return tx
}

function votesTx(world: World, from: number, to: number): Tx {
  const tx = nested(world, 'ballot', `["${from}","${to}"]`)
  const first = world.producers[0]?.account ?? ''
  for (let index = from; index < to; index += 1) {
    const name = world.account(index)
    vote(tx, name, first, votesAtStart(world, index))
    const second = secondVotes(index)
    if (second > 0) vote(tx, name, secondProducer(world, index), second)
  }
  return tx
}

function batches(first: number, end: number, make: (from: number, to: number) => Tx): readonly Tx[] {
  const made: Tx[] = []
  for (let index = 0; index < DAWN_TRANSACTIONS; index += 1) {
    const from = first + index * DAWN_ACCOUNTS
    if (from < end) made.push(make(from, Math.min(end, from + DAWN_ACCOUNTS)))
  }
  return made
}

/** The transactions of blocks 1 … `world.dawn` − 1, without base transactions. */
export function dawnTransactions(world: World, height: number): readonly Tx[] {
  const { holders, voters } = world.settings
  if (height < DAWN_ACCOUNTS_FROM)
    return [
      ...world.contracts.map((contract, index) => deployTx(contract, index)),
      tokenTx('coin', COINS * COIN),
      tokenTx('mint', 0),
      hubTx(world),
      ...COLLECTIONS.map(collectionTx),
      delayedTx(),
    ]
  const at = (height - DAWN_ACCOUNTS_FROM) * DAWN_PER_BLOCK
  const carried = height === DAWN_ACCOUNTS_FROM ? [carriedTx(world)] : []
  if (at < holders) return [...carried, ...batches(at, holders, (from, to) => accountsTx(world, from, to))]
  const votesFrom = DAWN_ACCOUNTS_FROM + Math.ceil(holders / DAWN_PER_BLOCK)
  return batches((height - votesFrom) * DAWN_PER_BLOCK, voters, (from, to) => votesTx(world, from, to))
}
