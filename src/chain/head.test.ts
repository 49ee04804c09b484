import { expect, test } from 'bun:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { encodeBase58 } from './base58.ts'
import { sha3 } from './hash.ts'
import { signatureFault } from './head.ts'

const hash = sha3(new TextEncoder().encode('head'))
const secret = sha3(new TextEncoder().encode('secret'))
const key = secp256k1.getPublicKey(secret)
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const signed = (sig: Uint8Array, algorithm = 1) => ({
  witness: encodeBase58(key),
  sign: { algorithm, sig: base64(sig), pubKey: base64(key) },
})
const sig = secp256k1.sign(hash, secret, { prehash: false })
/** The same signature with the other s, which the chain does not accept. */
function highS(): Uint8Array {
  const { r, s } = secp256k1.Signature.fromBytes(sig)
  return new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s).toBytes()
}

test('signatureFault: a witness may sign with secp256k1, which is every algorithm but 2', () => {
  for (const algorithm of [1, 0, 3, 257]) expect(signatureFault(hash, signed(sig, algorithm))).toBeUndefined()
  // The chain keeps one byte of the number.
  for (const algorithm of [2, 258])
    expect(signatureFault(hash, signed(sig, algorithm))).toEndWith(
      `is not a public key of ed25519, which is algorithm ${algorithm} of its signature`,
    )
})

test('signatureFault: other signatures of secp256k1 are not valid', () => {
  const witness = encodeBase58(key)
  const others = [highS(), sig.slice(1), new Uint8Array(64), secp256k1.sign(hash, sha3(secret), { prehash: false })]
  for (const other of others)
    expect(signatureFault(hash, signed(other))).toBe(`the signature of its witness ${witness} is not valid`)
  expect(signatureFault(sha3(hash), signed(sig))).toBe(`the signature of its witness ${witness} is not valid`)
})
