import { CONTRACTS, MOST } from './cycle-plan.ts'
import { ADMIN, CREATORS, DEAD, FOUNDATION, FOUNDER, HUB, TOKENS, type Token } from './names.ts'
import { COLLECTIONS, collectionTx } from './nfts.ts'
import { mix } from './random.ts'
import { blockMs } from './time.ts'
import { addAction, emptyTx, issue, signUp, type Tx, transfer, transferAction, vote } from './transaction.ts'
import { txHash } from './transaction-hash.ts'
import { DAWN_ACCOUNTS, DAWN_ACCOUNTS_FROM, DAWN_PER_BLOCK, DAWN_TRANSACTIONS, deployTx, type World } from './world.ts'

const SYSTEM = 'token token721 gas issue auth domain bonus vote vote_producer base exchange ram'
  .split(' ')
  .map(name => `${name}.iost`)
/** Initial balances in IOST: about 80 of 90 billion. */
const SHARES: readonly (readonly [owner: string, iost: bigint])[] = [
  [ADMIN, 1_000_000_000n],
  [FOUNDER, 30_000_000_000n],
  [HUB, 5_000_000_000n],
  ['bonus.iost', 20_000_000_000n],
  ['ram.iost', 4_000_000_000n],
  ...CREATORS.map(name => [name, 5_000_000_000n] as const),
]
const RAM_BYTES = 137_438_953_472

function create(tx: Tx, { symbol, issuer }: Token, total: number, config: object): void {
  const encoded = Buffer.from(JSON.stringify(config)).toString('base64')
  tx.receipts.push({ funcName: 'token.iost/create', content: `["${symbol}","${issuer}",${total},"${encoded}"]` })
  tx.effects.push({ kind: 'create', token: symbol })
}

const act = (tx: Tx, called: string, data: string, to: string): void =>
  addAction(tx, called, data, [tx.publisher, to], '[""]')

/** Block 0: the chain's own contracts, tokens, producers and the first accounts. */
export function genesisTx(world: World): Tx {
  const tx = emptyTx(DEAD, 0)
  tx.effects.push({ kind: 'deploy', contract: 'system.iost' })
  for (const contract of SYSTEM) {
    act(tx, 'system.iost/initSetCode', `["${contract}", ""]`, 'system.iost')
    tx.effects.push({ kind: 'deploy', contract })
  }
  create(tx, TOKENS.iost, 90_000_000_000, { can_transfer: true, decimal: 8 })
  create(tx, TOKENS.contribute, 90_000_000_000, { can_transfer: false, decimal: 8 })
  create(tx, TOKENS.ram, 6_871_947_673_600, { decimal: 0, fullName: 'IOST system ram', onlyIssuerCanTransfer: true })
  const key = world.keys[0] ?? ''
  for (const name of [ADMIN, FOUNDATION, FOUNDER, HUB, ...CREATORS, DEAD]) {
    const data = signUp(tx, name, key, true)
    act(tx, 'auth.iost/signUp', data, name)
  }
  for (const { account, key: signing } of world.producers) {
    act(tx, 'auth.iost/signUp', signUp(tx, account, signing, true), account)
    act(tx, 'vote_producer.iost/initProducer', `["${account}", "${signing}"]`, account)
  }
  for (const [owner, iost] of SHARES) issue(tx, TOKENS.iost, owner, iost * BigInt(IOST))
  issue(tx, TOKENS.ram, 'ram.iost', RAM_BYTES)
  act(tx, 'ram.iost/issue', `[${RAM_BYTES}, 600, 1307448, 0]`, 'ram.iost')
  transfer(tx, TOKENS.ram, ['ram.iost', FOUNDER], RAM_BYTES / 8)
  transfer(tx, TOKENS.ram, ['ram.iost', HUB], RAM_BYTES / 64)
  return tx
}

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
  const data = `["${symbol}","${issuer}",${COINS},${JSON.stringify(config)}]`
  addAction(tx, 'token.iost/create', data, [issuer, 'token.iost'])
  create(tx, token, COINS, config)
  if (first > 0) addAction(tx, 'token.iost/issue', issue(tx, token, issuer, first, true), ['', issuer])
  return tx
}

function hubTx(world: World): Tx {
  const tx = emptyTx(FOUNDER, GAS)
  const units = roundedUp(world.needs.coin[world.settings.holders] ?? 0, COIN) + MOST.coin
  transferAction(tx, TOKENS.coin, [FOUNDER, HUB], units, '')
  return tx
}

function nested(world: World, name: string, data: string): Tx {
  const tx = emptyTx(FOUNDER, GAS)
  const contract = world.contracts[0] ?? ''
  addAction(tx, `${contract}/${name}`, data, [FOUNDER, contract], '[""]')
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
  const starts = Array.from({ length: DAWN_TRANSACTIONS }, (_, index) => first + index * DAWN_ACCOUNTS)
  return starts.filter(from => from < end).map(from => make(from, Math.min(end, from + DAWN_ACCOUNTS)))
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

const DELAYED_COINS = 7_000
const NS_PER_MS = 1_000_000
/** The position after the base transaction, the contracts, two tokens, the hub's share and the collections. */
const POSITION = 1 + CONTRACTS + 3 + COLLECTIONS.length

function moving(given: Parameters<typeof emptyTx>[2]): Tx {
  const tx = emptyTx(FOUNDER, 54_321, given)
  transferAction(tx, TOKENS.coin, [FOUNDER, HUB], DELAYED_COINS, 'delayed')
  return tx
}

/** A transaction of block 1 that block 2 executes, as nodes until 3.9.2 accepted it. It has no effects of its own. */
const delayedTx = (): Tx => ({
  ...moving({ delay: (blockMs(2) - blockMs(1)) * NS_PER_MS }),
  message: 'delayed',
  returns: [],
  receipts: [],
  effects: [],
})

/** The transaction that executes the delayed one. It refers to it by hash, and has no signatures. */
const carriedTx = ({ seals }: World): Tx =>
  moving({ referred: txHash(seals, delayedTx(), { height: 1, position: POSITION }) })
