import { encodeBase58 } from './base58.ts'
import { type Bound, HASH, INFO, PUBLIC_KEY } from './bounds.ts'
import { sha3 } from './hash.ts'
import {
  asObject,
  countOf,
  type Fields,
  int64Of,
  listOf,
  objectOf,
  type Path,
  parseAnswer,
  textOf,
  wrong,
} from './json-fields.ts'

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
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const bytesOf = (fields: Fields, key: string, above: Path, bound: Bound): Uint8Array => {
  const text = textOf(fields, key, above, bound)
  if (!BASE64.test(text)) throw wrong({ above, key }, text, 'base64')
  return new Uint8Array(Buffer.from(text, 'base64'))
}

/** Decodes the answer of getBlockHeaderByRange. Throws Failure 'bad_block'. */
export const decodeRawHeads = (text: string): readonly RawHead[] => {
  const answer = asObject(parseAnswer(text, 'getBlockHeaderByRange'), { key: 'answer' })
  return listOf(answer, 'block_list', { key: 'answer' }).map((value, index) => {
    const above: Path = { above: { key: 'block_list' }, key: index }
    const path: Path = { above, key: 'head' }
    const fields = objectOf(asObject(value, above), 'head', above)
    return {
      version: int64Of(fields, 'version', path),
      parentHash: bytesOf(fields, 'parentHash', path, HASH),
      txMerkleHash: bytesOf(fields, 'txMerkleHash', path, HASH),
      txReceiptMerkleHash: bytesOf(fields, 'txReceiptMerkleHash', path, HASH),
      info: bytesOf(fields, 'info', path, INFO),
      height: countOf(fields, 'number', path),
      witness: textOf(fields, 'witness', path, PUBLIC_KEY),
      time: int64Of(fields, 'time', path),
    }
  })
}

/** Writes integers big endian and bytes behind their 32-bit length: the chain's form of what it hashes. */
export const encodeSimple = (parts: readonly (bigint | number | string | Uint8Array)[]): Uint8Array => {
  const chunks: Uint8Array[] = []
  for (const part of parts) {
    if (typeof part === 'bigint') {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64BE(part)
      chunks.push(bytes)
      continue
    }
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    const length = Buffer.alloc(4)
    length.writeInt32BE(typeof bytes === 'number' ? bytes : bytes.length)
    chunks.push(length)
    if (typeof bytes !== 'number') chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

/** The block's hash: SHA3-256 of its head (go-iost core/block, BlockHead.hash), base58. */
export const headHash = (head: RawHead): string =>
  encodeBase58(
    sha3(
      encodeSimple([
        head.version,
        head.parentHash,
        head.txMerkleHash,
        head.txReceiptMerkleHash,
        head.info,
        BigInt(head.height),
        head.witness,
        head.time,
      ]),
    ),
  )
