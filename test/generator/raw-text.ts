import { base58Bytes } from '#chain/base58.ts'
import { NO_SIGN } from '#test/replay/replay-node.ts'
import { hashesOf, listed, type Made, quoted } from './block.ts'
import { hashReceipt } from './hashing.ts'
import { signText } from './signing.ts'
import { CHAIN, GAS_RATIO, type Tx, termsOf } from './transaction.ts'
import { type Sealed, signedOf } from './transaction-hash.ts'
import { signerOf, type World } from './world.ts'

/** Blocks in the node's storage format, with its JSON character by character (recorded: getRawBlockByNumber). */

const HASH = 32

const base64At = (bytes: Buffer, index: number): string => bytes.toString('base64', index * HASH, (index + 1) * HASH)

/** A head with its signature, which is the beginning of a block's storage format. */
export function rawHeadText(world: World, made: Made): string {
  const { roots } = made
  const genesis = made.height === 0
  const signer = signerOf(world, made.height)
  const sign = signer === undefined ? NO_SIGN : signText(roots.subarray(3 * HASH), signer)
  return (
    `"head":{"version":"${genesis ? 0 : 1}", "parentHash":"${genesis ? '' : base64At(roots, 0)}", ` +
    `"txMerkleHash":"${base64At(roots, 1)}", "txReceiptMerkleHash":"${base64At(roots, 2)}", ` +
    `"info":"${genesis ? '' : 'e30='}", "number":"${made.height}", "witness":"${made.witness}", "time":"${made.time}"}, ` +
    `"sign":${sign}`
  )
}

/** A block in its storage format. Without `complete`, only with the hashes of its transactions and receipts. */
export function rawBlockText(world: World, made: Made, complete: boolean): string {
  const head = `{"status":"IRREVERSIBLE", "block":{${rawHeadText(world, made)}, `
  const hashes = hashesOf(made).map(hash => Buffer.from(base58Bytes(hash) ?? []))
  if (!complete) {
    const leaves = made.transactions.map(({ tx }, index) => {
      const bytes = Buffer.from(hashes[index] ?? [])
      hashReceipt(tx, bytes, 0, bytes)
      return bytes
    })
    const texts = (all: readonly Buffer[]): string => all.map(bytes => `"${bytes.toString('base64')}"`).join(', ')
    return (
      `${head}"txs":[], "receipts":[], "txHashes":[${texts(hashes)}], ` +
      `"receiptHashes":[${texts(leaves)}], "blockType":"ONLYHASH"}}`
    )
  }
  const txs = made.transactions.map(({ tx, place }) => txText(world, tx, place))
  const receipts = made.transactions.map(({ tx }, index) => receiptText(tx, hashes[index]?.toString('base64') ?? ''))
  return (
    `${head}"txs":[${txs.join(', ')}], "receipts":[${receipts.join(', ')}], "txHashes":[], "receiptHashes":[], ` +
    `"blockType":"NORMAL"}}`
  )
}

const sealsText = (seals: readonly Sealed[]): string =>
  seals
    .map(
      ({ algorithm, sig, pubKey }) =>
        `{"algorithm":${algorithm}, "sig":"${sig.toString('base64')}", "pubKey":"${pubKey.toString('base64')}"}`,
    )
    .join(', ')

function txText(world: World, tx: Tx, place: { readonly height: number; readonly position: number }): string {
  const { time, expiration, gasLimit, isLimited } = termsOf(tx, place.height)
  const { signs, publishSigns } = signedOf(world.seals, tx, place)
  const actions = tx.actions.map(
    ({ contract, name, data }) => `{"contract":"${contract}", "actionName":"${name}", "data":${quoted(data)}}`,
  )
  const referred = tx.referred === '' ? '' : Buffer.from(base58Bytes(tx.referred) ?? []).toString('base64')
  return (
    `{"time":"${time}", "expiration":"${expiration}", "gasLimit":"${gasLimit}", "gasRatio":"${GAS_RATIO}", ` +
    `"actions":[${actions.join(', ')}], "signers":[${listed(tx.signers)}], "signs":[${sealsText(signs)}], ` +
    `"publisher":"${tx.publisher}", "publishSigns":[${sealsText(publishSigns)}], "delay":"${tx.delay}", ` +
    `"chain_id":${CHAIN}, "referredTx":"${referred}", "amountLimit":[${isLimited ? '{"token":"*", "val":"unlimited"}' : ''}], ` +
    `"reserved":""}`
  )
}

function receiptText(tx: Tx, hash: string): string {
  const ram = tx.ram.map(([payer, bytes]) => `"${payer}":"${bytes}"`)
  const receipts = tx.receipts.map(({ name, content }) => `{"funcName":"${name}", "content":${quoted(content)}}`)
  return (
    `{"txHash":"${hash}", "gasUsage":"${tx.gas}", "ramUsage":{${ram.join(', ')}}, ` +
    `"status":{"code":${tx.status}, "message":${quoted(tx.message)}}, "returns":[${listed(tx.returns)}], ` +
    `"receipts":[${receipts.join(', ')}]}`
  )
}
