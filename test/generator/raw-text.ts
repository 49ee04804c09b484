import { base58Bytes } from '#chain/base58.ts'
import { NO_SIGN } from '#test/replay/block-text.ts'
import { hashesOf, type Made } from './block.ts'
import { baseReceipts } from './content.ts'
import { hashReceipt, type Leaf as Receipt } from './hashing.ts'
import { signText } from './signing.ts'
import { signedTimes } from './time.ts'
import { BASE_GAS_LIMIT, CHAIN, GAS_LIMIT, GAS_RATIO, OK, type Tx } from './transaction.ts'
import { type Sealed, signedOf } from './transaction-hash.ts'
import { listed, quoted } from './transaction-text.ts'
import { signerOf, type World, witnessOf } from './world.ts'

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
export function rawBlockText(world: World, made: Made, parentGas: number, complete: boolean): string {
  const head = `{"status":"IRREVERSIBLE", "block":{${rawHeadText(world, made)}, `
  const { height } = made
  const users = made.users.map(({ tx }) => tx)
  const hashes = hashesOf(made).map(hash => Buffer.from(base58Bytes(hash) ?? []))
  const receipts: readonly Receipt[] = height === 0 ? users : [baseReceipt(world, height), ...users]
  if (!complete) {
    const leaf = (receipt: Receipt, index: number): Buffer => {
      const bytes = Buffer.from(hashes[index] ?? [])
      hashReceipt(receipt, bytes, 0, bytes)
      return bytes
    }
    const texts = (all: readonly Buffer[]): string => all.map(bytes => `"${bytes.toString('base64')}"`).join(', ')
    return (
      `${head}"txs":[], "receipts":[], "txHashes":[${texts(hashes)}], ` +
      `"receiptHashes":[${texts(receipts.map(leaf))}], "blockType":"ONLYHASH"}}`
    )
  }
  const first = height === 0 ? 0 : 1
  const txs = made.users.map(({ tx, place }) => txText(world, tx, place))
  if (first === 1) txs.unshift(baseText(made, witnessOf(world, height - 1).key, parentGas))
  const shown = receipts.map((receipt, index) => receiptText(receipt, hashes[index]?.toString('base64') ?? ''))
  return (
    `${head}"txs":[${txs.join(', ')}], "receipts":[${shown.join(', ')}], "txHashes":[], "receiptHashes":[], ` +
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
  const [time, expiration] = signedTimes(place.height)
  const { signs, publishSigns } = signedOf(world.seals, tx, place)
  const actions = tx.actions.map(
    ({ contract, name, data }) => `{"contract":"${contract}", "actionName":"${name}", "data":${quoted(data)}}`,
  )
  const referred = tx.referred === '' ? '' : Buffer.from(base58Bytes(tx.referred) ?? []).toString('base64')
  return (
    `{"time":"${time}", "expiration":"${expiration}", "gasLimit":"${GAS_LIMIT}", "gasRatio":"${GAS_RATIO}", ` +
    `"actions":[${actions.join(', ')}], "signers":[${listed(tx.signers)}], "signs":[${sealsText(signs)}], ` +
    `"publisher":"${tx.publisher}", "publishSigns":[${sealsText(publishSigns)}], "delay":"${tx.delay}", ` +
    `"chain_id":${CHAIN}, "referredTx":"${referred}", "amountLimit":[{"token":"*", "val":"unlimited"}], "reserved":""}`
  )
}

const baseText = ({ time }: Made, parent: string, parentGas: number): string =>
  `{"time":"${time}", "expiration":"0", "gasLimit":"${BASE_GAS_LIMIT}", "gasRatio":"${GAS_RATIO}", ` +
  `"actions":[{"contract":"base.iost", "actionName":"exec", "data":"[{\\"parent\\":[\\"${parent}\\", \\"${parentGas}\\", false]}]"}], ` +
  `"signers":[], "signs":[], "publisher":"base.iost", "publishSigns":[], "delay":"0", "chain_id":${CHAIN}, ` +
  `"referredTx":"", "amountLimit":[], "reserved":""}`

const baseReceipt = (world: World, height: number): Receipt => ({
  gas: 0,
  ram: [],
  status: OK,
  message: '',
  returns: ['[""]'],
  receipts: baseReceipts(world, height),
})

function receiptText(tx: Receipt, hash: string): string {
  const ram = tx.ram.map(([payer, bytes]) => `"${payer}":"${bytes}"`)
  const receipts = tx.receipts.map(({ name, content }) => `{"funcName":"${name}", "content":${quoted(content)}}`)
  return (
    `{"txHash":"${hash}", "gasUsage":"${tx.gas}", "ramUsage":{${ram.join(', ')}}, ` +
    `"status":{"code":${tx.status}, "message":${quoted(tx.message)}}, "returns":[${listed(tx.returns)}], ` +
    `"receipts":[${receipts.join(', ')}]}`
  )
}
