import { formatUnits, parseUnits } from './amount.ts'
import { base58Bytes } from './base58.ts'
import type { Action, Transaction } from './block.ts'
import { encodeSimple, hashSimple } from './hash.ts'
import type { Signature } from './head.ts'

/** The hashed fields of a transaction, with gas × 100 and hashes as bytes. */
export type HashedTransaction = {
  readonly time: bigint
  readonly expiration: bigint
  readonly gasRatio: bigint
  readonly gasLimit: bigint
  readonly delay: bigint
  readonly chainId: number
  readonly reserved: Uint8Array
  readonly signers: readonly string[]
  readonly actions: readonly Action[]
  readonly amountLimit: readonly { readonly token: string; readonly value: string }[]
  readonly signs: readonly Signature[]
  readonly referredTx: Uint8Array
  readonly publisher: string
  readonly publishSigns: readonly Signature[]
}

const encodedSign = ({ algorithm, sig, pubKey }: Signature): Uint8Array =>
  Buffer.concat([Uint8Array.of(algorithm), encodeSimple([sig, pubKey])])

/** The fields that the publisher signs, in their order (go-iost core/tx, Tx.ToBytes at level Publish). */
export const publishedParts = (tx: HashedTransaction) => [
  tx.time,
  tx.expiration,
  tx.gasRatio,
  tx.gasLimit,
  tx.delay,
  tx.chainId,
  tx.reserved,
  tx.signers.length,
  ...tx.signers,
  tx.actions.length,
  ...tx.actions.map(({ contract, actionName, data }) => [contract, actionName, data]),
  tx.amountLimit.length,
  ...tx.amountLimit.map(({ token, value }) => [token, value]),
  tx.signs.length,
  ...tx.signs.map(encodedSign),
]

/** A transaction's hash (go-iost core/tx, Tx.ToBytes at level Full). */
export const transactionHash = (tx: HashedTransaction): Uint8Array =>
  hashSimple([
    ...publishedParts(tx),
    tx.referredTx,
    tx.publisher,
    tx.publishSigns.length,
    ...tx.publishSigns.map(encodedSign),
  ])

/** Gas has two decimals in the node's JSON. */
const GAS_DECIMALS = 2
const NOTHING = new Uint8Array()

/** Gas × 100; −1 for more decimals than gas has on the chain, which equals no hashed amount. */
function parseGas(text: string): bigint {
  const units = parseUnits(text, GAS_DECIMALS)
  return units !== undefined && formatUnits(units, GAS_DECIMALS) === text ? units : -1n
}

/** The hashed fields of a transaction in the node's JSON, which lacks signatures and reserved bytes. */
export const toHashedTransaction = (tx: Transaction): HashedTransaction => ({
  time: tx.time,
  expiration: tx.expiration,
  gasRatio: parseGas(tx.gasRatio),
  gasLimit: parseGas(tx.gasLimit),
  delay: tx.delay,
  chainId: tx.chainId,
  reserved: NOTHING,
  signers: tx.signers,
  actions: tx.actions,
  amountLimit: tx.amountLimit,
  signs: [],
  referredTx: base58Bytes(tx.referredTx) ?? NOTHING,
  publisher: tx.publisher,
  publishSigns: [],
})

const FIELDS = [
  'time',
  'expiration',
  'gasRatio',
  'gasLimit',
  'delay',
  'chainId',
  'signers',
  'actions',
  'amountLimit',
  'referredTx',
  'publisher',
] as const

/** The first field in which a transaction in the node's JSON differs from the hashed one; undefined: none. */
export function differingField(tx: Transaction, hashed: HashedTransaction): string | undefined {
  const stated = toHashedTransaction(tx)
  return FIELDS.find(field => !Bun.deepEquals(stated[field], hashed[field], true))
}
