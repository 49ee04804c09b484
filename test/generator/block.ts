import { encodeBase58 } from '#chain/base58.ts'
import { merkleRoot } from '#chain/check.ts'
import { headHashBytes } from '#chain/head.ts'
import { receiptHash, statusName } from '#chain/receipt-hash.ts'
import { transactionHash } from '#chain/transaction-hash.ts'
import { baseTx, gasOf, userTransactions } from './content.ts'
import { blockTime } from './time.ts'
import { CHAIN, type Tx, termsOf } from './transaction.ts'
import { type Place, toHashed, toReceipt } from './transaction-hash.ts'
import { type World, witnessOf } from './world.ts'

const PLAIN = /^[ -~\n]*$/

/** JSON of a text in ASCII only. A single other character would double the size of every answer with it. */
export function quoted(value: string): string {
  const json = JSON.stringify(value)
  return PLAIN.test(json)
    ? json
    : json.replace(/[^ -~]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const gasText = (gas: number | bigint): string => String(Number(gas) / 100)

export const listed = (texts: readonly string[]): string => texts.map(quoted).join(', ')

/** The node's JSON of a transaction with its receipt. */
function transactionText(tx: Tx, hash: string, height: number): string {
  const actions = tx.actions.map(
    ({ contract, actionName, data }) =>
      `{"contract":"${contract}", "action_name":"${actionName}", "data":${quoted(data)}}`,
  )
  const ram = tx.ram.map(([payer, bytes]) => `"${payer}":"${bytes}"`)
  const receipts = tx.receipts.map(
    ({ funcName, content }) => `{"func_name":"${funcName}", "content":${quoted(content)}}`,
  )
  const { time, expiration, gasLimit, isLimited } = termsOf(tx, height)
  return (
    `{"hash":"${hash}", "time":"${time}", "expiration":"${expiration}", "gas_ratio":1, "gas_limit":${gasText(gasLimit)}, "delay":"${tx.delay}", ` +
    `"chain_id":${CHAIN}, "actions":[${actions.join(', ')}], "signers":[${listed(tx.signers)}], "publisher":"${tx.publisher}", ` +
    `"referred_tx":"${tx.referred}", "amount_limit":[${isLimited ? '{"token":"*", "value":"unlimited"}' : ''}], "tx_receipt":{"tx_hash":"${hash}", ` +
    `"gas_usage":${gasText(tx.gas)}, "ram_usage":{${ram.join(', ')}}, "status_code":"${statusName(tx.status)}", ` +
    `"message":${quoted(tx.message)}, "returns":[${listed(tx.returns)}], "receipts":[${receipts.join(', ')}]}}`
  )
}

/** A block with the parts that answers need. */
export type Made = {
  readonly height: number
  readonly time: string
  readonly witness: string
  readonly roots: readonly [parent: Uint8Array, transactions: Uint8Array, receipts: Uint8Array, own: Uint8Array]
  /** Σ gas × 100. */
  readonly gas: number
  /** Hashes and the node's JSON of the transactions in order. */
  readonly hashes: readonly Uint8Array[]
  readonly texts: readonly string[]
  /** Positions of transactions without actions. */
  readonly without: readonly number[]
  readonly transactions: readonly Placed[]
  /** The transactions without the base transaction. */
  readonly users: readonly Placed[]
}

/** A transaction and the place for which it was signed. Another branch may contain it at another place. */
export type Placed = { readonly tx: Tx; readonly place: Place }

/** The transactions of a block in the chain without forks. */
export const ownTransactions = (world: World, height: number): readonly Placed[] =>
  userTransactions(world, height).map((tx, index) => ({
    tx,
    place: { height, position: height === 0 ? index : index + 1 },
  }))

/** What a block takes from its parent: its hash, and Σ gas × 100. */
export type Parent = Pick<Made, 'roots' | 'gas'>

/**
 * Makes a block on its parent, by default the chain's own. A variant has other transactions, and another seed of its
 * time. `texts: false` leaves out the JSON, when only hashes are needed.
 */
type MakeBlock = (
  height: number,
  parent: Parent,
  how?: { readonly texts?: boolean; readonly variant?: { readonly users: readonly Placed[]; readonly seed: number } },
) => Made

export function blockMaker(world: World): MakeBlock {
  return (height, parent, { texts = true, variant } = {}) => {
    const { users, seed } = variant ?? { users: ownTransactions(world, height), seed: world.settings.seed }
    const time = blockTime(seed, height)
    const { key: witness } = witnessOf(world, height)
    const base = { tx: baseTx(world, height, { gas: parent.gas, time }), place: { height, position: 0 } }
    const transactions = height === 0 ? users : [base, ...users]
    const hashes = transactions.map(({ tx, place }) => transactionHash(toHashed(world.seals, tx, place)))
    const leaf = ({ tx }: Placed, at: number) => receiptHash(hashes[at] ?? NONE, toReceipt(tx)) ?? NONE
    const head = {
      version: height === 0 ? 0n : 1n,
      parentHash: height === 0 ? NONE : parent.roots[3],
      txMerkleHash: merkleRoot(hashes),
      txReceiptMerkleHash: merkleRoot(transactions.map(leaf)),
      info: Buffer.from(height === 0 ? '' : '{}'),
    }
    const own = headHashBytes({ ...head, height, witness, time: BigInt(time) })
    return {
      ...{ height, time, witness, hashes, transactions, users },
      roots: [parent.roots[3], head.txMerkleHash, head.txReceiptMerkleHash, own],
      gas: gasOf(users.map(({ tx }) => tx)),
      texts: texts
        ? transactions.map(({ tx, place }, at) => transactionText(tx, encodeBase58(hashes[at] ?? NONE), place.height))
        : [],
      without: transactions.flatMap(({ tx }, at) => (tx.actions.length === 0 ? [at] : [])),
    }
  }
}
const NONE = new Uint8Array()

export const hashesOf = ({ hashes }: Made): readonly string[] => hashes.map(encodeBase58)

/** Σ gas × 100 of a block, computed without making the block. */
export const blockGas = (world: World, height: number): number => gasOf(userTransactions(world, height))
