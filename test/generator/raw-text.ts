import type { HashedTransaction } from '#chain/transaction-hash.ts'
import { NO_SIGN } from '#test/replay/replay-node.ts'
import { listed, type Made, quoted } from './block.ts'
import { signText } from './signing.ts'
import type { Tx } from './transaction.ts'
import { toHashed } from './transaction-hash.ts'
import { signerOf, type World } from './world.ts'

/** Blocks in the node's storage format, with its JSON character by character (recorded: getRawBlockByNumber). */

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** A head with its signature, which is the beginning of a block's storage format. */
export function rawHeadText(world: World, made: Made): string {
  const [parent, txRoot, receiptRoot, hash] = made.roots
  const genesis = made.height === 0
  const signer = signerOf(world, made.height)
  return (
    `"head":{"version":"${genesis ? 0 : 1}", "parentHash":"${genesis ? '' : base64(parent)}", ` +
    `"txMerkleHash":"${base64(txRoot)}", "txReceiptMerkleHash":"${base64(receiptRoot)}", ` +
    `"info":"${genesis ? '' : 'e30='}", "number":"${made.height}", "witness":"${made.witness}", "time":"${made.time}"}, ` +
    `"sign":${signer === undefined ? NO_SIGN : signText(hash, signer)}`
  )
}

/** A block in its storage format, with its transactions and receipts. */
export function rawBlockText(world: World, made: Made): string {
  const { transactions, hashes } = made
  const txs = transactions.map(({ tx, place }) => txText(toHashed(world.seals, tx, place)))
  const receipts = transactions.map(({ tx }, index) => receiptText(tx, base64(hashes[index] ?? NONE)))
  return (
    `{"status":"IRREVERSIBLE", "block":{${rawHeadText(world, made)}, "txs":[${txs.join(', ')}], ` +
    `"receipts":[${receipts.join(', ')}], "txHashes":[], "receiptHashes":[], "blockType":"NORMAL"}}`
  )
}
const NONE = new Uint8Array()

const sealsText = (seals: HashedTransaction['signs']): string =>
  seals
    .map(
      ({ algorithm, sig, pubKey }) =>
        `{"algorithm":${algorithm}, "sig":"${base64(sig)}", "pubKey":"${base64(pubKey)}"}`,
    )
    .join(', ')

function txText(tx: HashedTransaction): string {
  const actions = tx.actions.map(
    ({ contract, actionName, data }) =>
      `{"contract":"${contract}", "actionName":"${actionName}", "data":${quoted(data)}}`,
  )
  const limits = tx.amountLimit.map(({ token, value }) => `{"token":"${token}", "val":"${value}"}`)
  return (
    `{"time":"${tx.time}", "expiration":"${tx.expiration}", "gasLimit":"${tx.gasLimit}", "gasRatio":"${tx.gasRatio}", ` +
    `"actions":[${actions.join(', ')}], "signers":[${listed(tx.signers)}], "signs":[${sealsText(tx.signs)}], ` +
    `"publisher":"${tx.publisher}", "publishSigns":[${sealsText(tx.publishSigns)}], "delay":"${tx.delay}", ` +
    `"chain_id":${tx.chainId}, "referredTx":"${base64(tx.referredTx)}", "amountLimit":[${limits.join(', ')}], ` +
    `"reserved":""}`
  )
}

function receiptText(tx: Tx, hash: string): string {
  const ram = tx.ram.map(([payer, bytes]) => `"${payer}":"${bytes}"`)
  const receipts = tx.receipts.map(
    ({ funcName, content }) => `{"funcName":"${funcName}", "content":${quoted(content)}}`,
  )
  return (
    `{"txHash":"${hash}", "gasUsage":"${tx.gas}", "ramUsage":{${ram.join(', ')}}, ` +
    `"status":{"code":${tx.status}, "message":${quoted(tx.message)}}, "returns":[${listed(tx.returns)}], ` +
    `"receipts":[${receipts.join(', ')}]}`
  )
}
