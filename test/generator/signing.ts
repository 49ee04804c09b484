import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { base58Of32 } from '#chain/base58.ts'
import { drawBytes } from './random.ts'

/** Prefix of an ed25519 private key in PKCS#8 form (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A key pair that signs blocks. */
type SigningKey = {
  /** The public key, base58 of 32 bytes. */
  readonly key: string
  readonly bytes: Uint8Array
  readonly secret: KeyObject
}

export function signingKey(seed: number, index: number): SigningKey {
  const drawn = drawBytes(seed, 907, index)
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, drawn]), format: 'der', type: 'pkcs8' })
  const bytes = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32)
  return { key: base58Of32(bytes), bytes, secret }
}

/** A signature of a block's hash in the node's storage format. */
export const signText = (hash: Uint8Array, { bytes, secret }: SigningKey): string =>
  `{"algorithm":2, "sig":"${sign(null, hash, secret).toString('base64')}", "pubKey":"${Buffer.from(bytes).toString('base64')}"}`
