import { CONTRACTS, cyclePlan, HUB_INDEX, needsOf, scheduleOf } from './cycle-plan.ts'
import { accountNames, FOUNDER, HUB, keyOf, producerName } from './names.ts'
import { nftPlan } from './nfts.ts'
import type { Settings } from './settings.ts'
import { signingKey } from './signing.ts'
import { addAction, emptyTx, type Tx } from './transaction.ts'
import { type Seals, sealsOf, txHash } from './transaction-hash.ts'

/** Accounts created per transaction before the cycles, and such transactions per block. */
export const DAWN_ACCOUNTS = 25
export const DAWN_TRANSACTIONS = 16
/** Number of blocks before the first accounts: genesis, and the block of contracts and tokens. */
export const DAWN_ACCOUNTS_FROM = 2
export const DAWN_PER_BLOCK = DAWN_ACCOUNTS * DAWN_TRANSACTIONS
const KEYS = 64

/** Data that is computed once from the settings and never changed. */
export function worldOf(settings: Settings) {
  const { seed, holders, voters } = settings
  const schedule = scheduleOf(settings)
  const name = accountNames()
  /** Of ordinary accounts. There are few, since no test depends on them. */
  const keys = Array.from({ length: KEYS }, (_, index) => keyOf(seed, index))
  const seals = sealsOf(seed, keys)
  const plan = cyclePlan(settings)
  const blocksFor = (accounts: number): number => Math.ceil(accounts / DAWN_PER_BLOCK)
  return {
    ...{ settings, schedule, plan, keys, seals },
    needs: needsOf(settings, schedule),
    nfts: nftPlan(plan.read, schedule.count / 2),
    /** Name of an account by number. */
    account: (index: number): string => (index === HUB_INDEX ? HUB : name(index)),
    /** Producers by number: account and signing key. */
    producers: Array.from({ length: settings.producers }, (_, index) => ({
      account: producerName(index),
      ...signingKey(seed, index),
    })),
    /** Ids of the contracts that block 1 deploys. */
    contracts: Array.from({ length: CONTRACTS }, (_, index) => contractId(seals, index)),
    /** Blocks before the first cycle: genesis, contracts and tokens, accounts, votes. */
    dawn: DAWN_ACCOUNTS_FROM + blocksFor(holders) + blocksFor(voters),
  }
}
export type World = ReturnType<typeof worldOf>

/** Blocks that one producer makes in a row. */
const TURN = 6

/** The signer of a block. Genesis has none. */
export const signerOf = ({ producers }: World, height: number): World['producers'][number] | undefined =>
  height === 0 ? undefined : producers[Math.floor(height / TURN) % producers.length]

/** The witness of a block. That of genesis is `0`. */
export const witnessOf = (world: World, height: number): { readonly account: string; readonly key: string } =>
  signerOf(world, height) ?? { account: '0', key: '0' }

const GAS = 1_234_567
const ABIS = ['play', 'claim', 'route', 'store', 'drop', 'ballot'].map(name => ({
  name,
  args: ['string', 'string'],
  amountLimit: [{ token: '*', val: 'unlimited' }],
}))
const codeOf = (index: number): string =>
  JSON.stringify({
    ID: '',
    info: { lang: 'javascript', version: `1.0.${index}`, abi: ABIS },
    code: `class C${index}{init(){} play(a,b){return a;}}\nmodule.exports=C${index};`,
  })

/**
 * The deployment of a contract in block 1. The contract's id is made from the transaction's hash, which does
 * not cover the id.
 */
export function deployTx(contract: string, index: number): Tx {
  const tx = emptyTx(FOUNDER, GAS)
  const data = JSON.stringify([codeOf(index)])
  addAction(tx, 'system.iost/setCode', data, [FOUNDER, 'system.iost'], `["${contract}"]`)
  tx.ram.push([FOUNDER, data.length])
  tx.effects.push({ kind: 'deploy', contract }, { kind: 'ram', owner: FOUNDER, bytes: data.length })
  return tx
}

/** Id of the contract that block 1 deploys in its transaction number `index` after the base transaction. */
const contractId = (seals: Seals, index: number): string =>
  `Contract${txHash(seals, deployTx('', index), { height: 1, position: 1 + index })}`
