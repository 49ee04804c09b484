import { issue, signUp, transfer } from './movements.ts'
import { ADMIN, DEAD, FOUNDATION, FOUNDER, HUB, TOKENS } from './names.ts'
import { emptyTx, type Tx } from './transaction.ts'
import type { World } from './world.ts'

const SYSTEM = 'token token721 gas issue auth domain bonus vote vote_producer base exchange ram'
  .split(' ')
  .map(name => `${name}.iost`)
/** The accounts that create newcomers. */
export const CREATORS = ['creator_0', 'creator_1', 'creator_2', 'creator_3'] as const

const IOST = 100_000_000n
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

function create(tx: Tx, token: keyof typeof TOKENS, total: string, config: object): void {
  const { symbol, issuer, decimals } = TOKENS[token]
  const encoded = Buffer.from(JSON.stringify(config)).toString('base64')
  tx.receipts.push({ name: 'token.iost/create', content: `["${symbol}","${issuer}",${total},"${encoded}"]` })
  tx.effects.push({ kind: 'create', token: symbol, decimals })
}

function act(tx: Tx, contract: string, name: string, data: string, to = contract): void {
  tx.actions.push({ contract, name, data, from: tx.publisher, to })
  tx.returns.push('[""]')
}

/** Block 0: the chain's own contracts, tokens, producers and the first accounts. */
export function genesisTx(world: World): Tx {
  const tx = emptyTx(DEAD, 0)
  tx.effects.push({ kind: 'deploy', contract: 'system.iost' })
  for (const contract of SYSTEM) {
    act(tx, 'system.iost', 'initSetCode', `["${contract}", ""]`, 'system.iost')
    tx.effects.push({ kind: 'deploy', contract })
  }
  create(tx, 'iost', '90000000000', { can_transfer: true, decimal: 8 })
  create(tx, 'contribute', '90000000000', { can_transfer: false, decimal: 8 })
  create(tx, 'ram', '6871947673600', { decimal: 0, fullName: 'IOST system ram', onlyIssuerCanTransfer: true })
  const key = world.keys[0] ?? ''
  for (const name of [ADMIN, FOUNDATION, FOUNDER, HUB, ...CREATORS, DEAD]) {
    const data = signUp(tx, name, key, true)
    act(tx, 'auth.iost', 'signUp', data, name)
  }
  for (const { account, key: signing } of world.producers) {
    act(tx, 'auth.iost', 'signUp', signUp(tx, account, signing, true), account)
    act(tx, 'vote_producer.iost', 'initProducer', `["${account}", "${signing}"]`, account)
    tx.effects.push({ kind: 'producer', account })
  }
  for (const [owner, iost] of SHARES) issue(tx, TOKENS.iost, owner, iost * IOST)
  issue(tx, TOKENS.ram, 'ram.iost', RAM_BYTES)
  act(tx, 'ram.iost', 'issue', `[${RAM_BYTES}, 600, 1307448, 0]`)
  transfer(tx, TOKENS.ram, ['ram.iost', FOUNDER], RAM_BYTES / 8)
  transfer(tx, TOKENS.ram, ['ram.iost', HUB], RAM_BYTES / 64)
  return tx
}
