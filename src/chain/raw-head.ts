import { encodeBase58 } from './base58.ts'
import { HASH, INFO, PUBLIC_KEY } from './bounds.ts'
import { hashSimple } from './encode-simple.ts'
import {
  asObject,
  countOf,
  int64Of,
  listOf,
  memberOf,
  objectOf,
  type Path,
  parseAnswer,
  textOf,
} from './json-fields.ts'
import { base64Of } from './raw-fields.ts'

/** A block's head in the form the chain hashes. Hashes and `info` as bytes. */
export type RawHead = {
  readonly version: bigint
  readonly parentHash: Uint8Array
  readonly txMerkleHash: Uint8Array
  readonly txReceiptMerkleHash: Uint8Array
  readonly info: Uint8Array
  readonly height: number
  readonly witness: string
  readonly time: bigint
  /** The witness's signature as the node gives it (`decodeSignature` reads it); the hash does not cover it. */
  readonly sign: unknown
}

/** Decodes the answer of getBlockHeaderByRange. Throws Failure 'bad_block'. */
export const decodeRawHeads = (text: string): readonly RawHead[] => {
  const answer = asObject(parseAnswer(text, 'getBlockHeaderByRange'), { key: 'answer' })
  return listOf(answer, 'block_list', { key: 'answer' }).map((value, index) =>
    rawHeadFrom(value, { above: { key: 'block_list' }, key: index }),
  )
}

/** The head of a block in its storage form (`{head, sign, …}`). Throws Failure 'bad_block'. */
export const rawHeadFrom = (value: unknown, above: Path): RawHead => {
  const block = asObject(value, above)
  const path: Path = { above, key: 'head' }
  const fields = objectOf(block, 'head', above)
  return {
    version: int64Of(fields, 'version', path),
    parentHash: base64Of(fields, 'parentHash', path, HASH),
    txMerkleHash: base64Of(fields, 'txMerkleHash', path, HASH),
    txReceiptMerkleHash: base64Of(fields, 'txReceiptMerkleHash', path, HASH),
    info: base64Of(fields, 'info', path, INFO),
    height: countOf(fields, 'number', path),
    witness: textOf(fields, 'witness', path, PUBLIC_KEY),
    time: int64Of(fields, 'time', path),
    sign: memberOf(block, 'sign'),
  }
}

/** The block's hash: SHA3-256 of its head (go-iost core/block, BlockHead.hash). */
export const headHashBytes = (head: Omit<RawHead, 'sign'>): Uint8Array =>
  hashSimple([
    head.version,
    head.parentHash,
    head.txMerkleHash,
    head.txReceiptMerkleHash,
    head.info,
    BigInt(head.height),
    head.witness,
    head.time,
  ])

/** The same in base58. */
export const headHash = (head: Omit<RawHead, 'sign'>): string => encodeBase58(headHashBytes(head))
