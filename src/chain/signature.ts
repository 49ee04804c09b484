import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { base58Bytes } from './base58.ts'
import { PUBLIC_KEY, SIGNATURE } from './bounds.ts'
import { asObject, type Fields, integerOf, type Path } from './json-fields.ts'
import { base64Of } from './raw-fields.ts'

/** A signature in the chain's storage form. */
export type Signature = {
  /** 1: secp256k1, 2: ed25519. */
  readonly algorithm: number
  readonly sig: Uint8Array
  readonly pubKey: Uint8Array
}

/** The one algorithm that blocks are signed with (chain rule: every recorded signature). */
const ED25519 = 2
const KEY_BYTES = 32
/** An ed25519 key in the form of SubjectPublicKeyInfo begins with this (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** Reads `{algorithm, sig, pubKey}`. Throws Failure 'bad_block'. */
export const decodeSignature = (value: unknown, path: Path): Signature => {
  const fields: Fields = asObject(value, path)
  return {
    algorithm: integerOf(fields, 'algorithm', path),
    sig: base64Of(fields, 'sig', path, SIGNATURE),
    pubKey: base64Of(fields, 'pubKey', path, PUBLIC_KEY),
  }
}

const keys = new Map<string, KeyObject>()
/** Producers are some hundred; keys that a lying node makes up must not take all memory. */
const MOST_KEYS = 1_000

const keyOf = (witness: string, bytes: Uint8Array): KeyObject => {
  const known = keys.get(witness)
  if (known !== undefined) return known
  if (keys.size >= MOST_KEYS) keys.clear()
  const key = createPublicKey({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' })
  keys.set(witness, key)
  return key
}

/** Why a block's signature is invalid: `hash` is the block's, `witness` the key (base58) that its head names. */
export const signatureFault = (hash: Uint8Array, witness: string, sign: Signature): string | undefined => {
  if (sign.sig.length === 0) return 'its head has no signature'
  if (sign.algorithm !== ED25519)
    return `algorithm ${sign.algorithm} of its signature is not ${ED25519} (ed25519)`
  const key = base58Bytes(witness)
  if (key?.length !== KEY_BYTES) return `its witness "${witness.slice(0, 60)}" is not a public key`
  if (Buffer.compare(key, sign.pubKey) !== 0)
    return `its signature was made with another key than its witness ${witness}`
  try {
    if (verify(null, hash, keyOf(witness, key), sign.sig)) return undefined
  } catch {
    // Not a point of the curve: no signature is valid for it.
  }
  return `the signature of its witness ${witness} is not valid`
}
