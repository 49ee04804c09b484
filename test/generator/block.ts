import { base58Of32 } from '#chain/base58.ts'
import { baseTx, gasOf, userTransactions } from './content.ts'
import { hashHead, hashReceipt, merkleInto, statusText } from './hashing.ts'
import { blockTime } from './time.ts'
import { CHAIN, type Tx, termsOf } from './transaction.ts'
import { type Place, writeTxHash } from './transaction-hash.ts'
import { type World, witnessOf } from './world.ts'

const GAS_DECIMALS = 100

const PLAIN = /^[ -~\n]*$/

/** JSON of a text in ASCII only. A single other character would double the size of every answer with it. */
export function quoted(value: string): string {
  const json = JSON.stringify(value)
  return PLAIN.test(json)
    ? json
    : json.replace(/[^ -~]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const gasText = (gas: number): string => String(gas / GAS_DECIMALS)

function receiptsText(receipts: readonly { readonly name: string; readonly content: string }[]): string {
  let text = ''
  for (const { name, content } of receipts)
    text += `${text === '' ? '' : ', '}{"func_name":"${name}", "content":${quoted(content)}}`
  return text
}

export function listed(texts: readonly string[]): string {
  let list = ''
  for (const text of texts) list += `${list === '' ? '' : ', '}${quoted(text)}`
  return list
}

/** The node's JSON of a transaction with its receipt. */
function transactionText(tx: Tx, hash: string, height: number): string {
  let actions = ''
  for (const { contract, name, data } of tx.actions)
    actions += `${actions === '' ? '' : ', '}{"contract":"${contract}", "action_name":"${name}", "data":${quoted(data)}}`
  const ram = tx.ram.map(([payer, bytes]) => `"${payer}":"${bytes}"`).join(', ')
  const { time, expiration, gasLimit, isLimited } = termsOf(tx, height)
  return (
    `{"hash":"${hash}", "time":"${time}", "expiration":"${expiration}", "gas_ratio":1, "gas_limit":${gasText(gasLimit)}, "delay":"${tx.delay}", ` +
    `"chain_id":${CHAIN}, "actions":[${actions}], "signers":[${listed(tx.signers)}], "publisher":"${tx.publisher}", ` +
    `"referred_tx":"${tx.referred}", "amount_limit":[${isLimited ? '{"token":"*", "value":"unlimited"}' : ''}], "tx_receipt":{"tx_hash":"${hash}", ` +
    `"gas_usage":${gasText(tx.gas)}, "ram_usage":{${ram}}, "status_code":"${statusText(tx.status)}", ` +
    `"message":${quoted(tx.message)}, "returns":[${listed(tx.returns)}], "receipts":[${receiptsText(tx.receipts)}]}}`
  )
}

/** A block with the parts that answers need. */
export type Made = {
  readonly height: number
  readonly time: string
  readonly witness: string
  /** Parent's hash, transaction root, receipt root and the block's hash, 32 bytes each. */
  readonly roots: Buffer
  /** Σ gas × 100. */
  readonly gas: number
  /** The node's JSON of the transactions in order. */
  readonly texts: readonly string[]
  /** Positions of transactions without actions. */
  readonly without: readonly number[]
  readonly transactions: readonly Placed[]
  /** The transactions without the base transaction. */
  readonly users: readonly Placed[]
}

/** A transaction and the place for which it was signed. Another branch may contain it at another place. */
export type Placed = { readonly tx: Tx; readonly place: Place }

/** A variant of a block: its transactions, and the seed of its time. */
type Variant = { readonly users: readonly Placed[]; readonly seed: number }

/** The transactions of a block in the chain without forks. */
export const ownTransactions = (world: World, height: number): readonly Placed[] =>
  userTransactions(world, height).map((tx, index) => ({
    tx,
    place: { height, position: height === 0 ? index : index + 1 },
  }))

const HASH = 32
const MOST_TRANSACTIONS = 1024
const hashes = Buffer.alloc(MOST_TRANSACTIONS * HASH)
const leaves = Buffer.alloc(MOST_TRANSACTIONS * HASH)

/** The inputs that a block takes from its parent: `roots`, whose last part is the hash, and Σ gas × 100. */
export type Parent = { readonly roots: Buffer; readonly gas: number }

/**
 * Makes a block on its parent, by default the chain's own. `texts: false` leaves out the JSON, when only
 * hashes are needed.
 */
type MakeBlock = (
  height: number,
  parent: Parent,
  how?: { readonly texts?: boolean; readonly variant?: Variant },
) => Made

export function blockMaker(world: World): MakeBlock {
  return (height, parent, { texts = true, variant } = {}) => {
    const { users, seed } = variant ?? { users: ownTransactions(world, height), seed: world.settings.seed }
    const time = blockTime(seed, height)
    const { key: witness } = witnessOf(world, height)
    const base = { tx: baseTx(world, height, { gas: parent.gas, time }), place: { height, position: 0 } }
    const transactions = height === 0 ? users : [base, ...users]
    const written: string[] = []
    const without: number[] = []
    for (const [position, { tx, place }] of transactions.entries()) {
      const at = position * HASH
      writeTxHash(world.seals, tx, place, hashes, at)
      hashReceipt(tx, hashes, at, leaves)
      if (texts) written.push(transactionText(tx, base58Of32(hashes.subarray(at, at + HASH)), place.height))
      if (tx.actions.length === 0) without.push(position)
    }
    const roots = Buffer.allocUnsafe(4 * HASH)
    parent.roots.copy(roots, 0, 3 * HASH, 4 * HASH)
    merkleInto(hashes, transactions.length, roots, HASH)
    merkleInto(leaves, transactions.length, roots, 2 * HASH)
    hashHead({ height, time, roots, witness }, roots, 3 * HASH)
    const gas = gasOf(users.map(({ tx }) => tx))
    return { height, time, witness, roots, gas, texts: written, without, transactions, users }
  }
}

/** Base58 hashes of a block's transactions, in order. */
export const hashesOf = ({ texts }: Made): readonly string[] =>
  texts.map(text => /^\{"hash":"([^"]*)"/.exec(text)?.[1] ?? '')

/** Σ gas × 100 of a block, computed without making the block. */
export const blockGas = (world: World, height: number): number => gasOf(userTransactions(world, height))
