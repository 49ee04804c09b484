import { decodeBlock } from '#chain/decode.ts'
import { hashBytes } from '#chain/hash.ts'
import { headHash } from '#chain/head.ts'
import { recording } from '../nodes/recording.ts'

/**
 * A node's answer with a recorded block as the pending block of another height, under the hash of that
 * height's header. `later`: nanoseconds added to its time, which makes it another block.
 */
export async function pendingBlock(height: number, later = 0n): Promise<string> {
  const text = ((await recording()).blockText(2021) ?? '')
    .replace('"status":"IRREVERSIBLE"', '"status":"PENDING"')
    .replace('"number":"2021"', `"number":"${height}"`)
  const block = decodeBlock(text)
  const time = block.time + later
  const bytes = (hash: string) => hashBytes(hash) ?? new Uint8Array()
  const hash = headHash({
    version: BigInt(block.version),
    parentHash: bytes(block.parentHash),
    txMerkleHash: bytes(block.txMerkleHash),
    txReceiptMerkleHash: bytes(block.txReceiptMerkleHash),
    info: Buffer.from('{}'),
    height,
    witness: block.witness,
    time,
  })
  return text.replace(block.hash, hash).replace(`"time":"${block.time}"`, `"time":"${time}"`)
}
