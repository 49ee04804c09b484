import { baseTransactions } from './base-transaction.ts'
import { base58Of32 } from './base58.ts'
import { gasOf, userTransactions } from './content.ts'
import { hashBase, hashEncoded, hashHead, hashReceipt, merkleInto } from './hashing.ts'
import { blockTime } from './time.ts'
import type { Tx } from './transaction.ts'
import { type Place, writeTxHash } from './transaction-hash.ts'
import { baseText, transactionText } from './transaction-text.ts'
import { type World, witnessOf } from './world.ts'

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
const NONE: readonly number[] = []

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
  const baseOf = baseTransactions(world)
  return (height, parent, { texts = true, variant } = {}) => {
    const { users, seed } = variant ?? { users: ownTransactions(world, height), seed: world.settings.seed }
    const time = texts ? blockTime(seed, height) : ''
    const { key: witness } = witnessOf(world, height)
    const first = height === 0 ? 0 : 1
    const count = users.length + first
    const written: string[] = []
    let without = NONE
    for (let position = 0; position < count; position += 1) {
      const at = position * HASH
      const placed = position < first ? undefined : users[position - first]
      if (placed === undefined)
        hashBase({ height, seed, parent: witnessOf(world, height - 1).key, gas: parent.gas }, hashes, at)
      else writeTxHash(world.seals, placed.tx, placed.place, hashes, at)
      const hash = texts ? base58Of32(hashes, at) : ''
      if (placed === undefined) {
        const { parts, receipt } = baseOf(height)
        hashEncoded(receipt, hashes, at, leaves)
        if (texts) written.push(baseText(parts, { hash, time, gas: parent.gas }))
        continue
      }
      const { tx, place } = placed
      hashReceipt(tx, hashes, at, leaves)
      if (texts) written.push(transactionText(tx, hash, place.height))
      if (tx.actions.length === 0) without = [...without, position]
    }
    const roots = Buffer.allocUnsafe(4 * HASH)
    parent.roots.copy(roots, 0, 3 * HASH, 4 * HASH)
    merkleInto(hashes, count, roots, HASH)
    merkleInto(leaves, count, roots, 2 * HASH)
    hashHead({ height, roots, witness, seed }, roots, 3 * HASH)
    return {
      height,
      time,
      witness,
      roots,
      gas: gasOf(users.map(({ tx }) => tx)),
      texts: written,
      without,
      users,
    }
  }
}

/** Base58 hashes of a block's transactions, in order. */
export const hashesOf = ({ texts }: Made): readonly string[] =>
  texts.map(text => /^\{"hash":"([^"]*)"/.exec(text)?.[1] ?? '')

/** Σ gas × 100 of a block, computed without making the block. */
export const blockGas = (world: World, height: number): number => gasOf(userTransactions(world, height))
