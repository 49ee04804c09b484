import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { base58Bytes, encodeBase58 } from './base58.ts'
import type { Block } from './block.ts'
import { HASH, INFO, PUBLIC_KEY, SIGNATURE } from './bounds.ts'
import { hashSimple } from './hash.ts'
import { tryParseJson } from './json.ts'
import {
  expectObject,
  type JsonFields,
  type Path,
  parseAnswer,
  requireBase64,
  requireCount,
  requireInt64,
  requireInteger,
  requireList,
  requireObject,
  requireText,
} from './json-fields.ts'

/** A block's head in the form that the chain hashes, with hashes and `info` as bytes. */
export type RawHead = {
  readonly version: bigint
  readonly parentHash: Uint8Array
  readonly txMerkleHash: Uint8Array
  readonly txReceiptMerkleHash: Uint8Array
  readonly info: Uint8Array
  readonly height: number
  readonly witness: string
  readonly time: bigint
  /** The witness's signature as the node returns it (see `decodeSignature`); the hash does not cover it. */
  readonly sign: unknown
}

/** Decodes the answer of getBlockHeaderByRange. Throws Failure 'bad_block'. */
export function decodeRawHeads(text: string): readonly RawHead[] {
  const answer = expectObject(parseAnswer(text, 'getBlockHeaderByRange'), { key: 'answer' })
  return requireList(answer, 'block_list', { key: 'answer' }).map((value, index) =>
    decodeRawHead(value, { above: { key: 'block_list' }, key: index }),
  )
}

/** The head of a block in its storage form (`{head, sign, …}`). Throws Failure 'bad_block'. */
export function decodeRawHead(value: unknown, above: Path): RawHead {
  const block = expectObject(value, above)
  const path: Path = { above, key: 'head' }
  const fields = requireObject(block, 'head', above)
  return {
    version: requireInt64(fields, 'version', path),
    parentHash: requireBase64(fields, 'parentHash', path, HASH),
    txMerkleHash: requireBase64(fields, 'txMerkleHash', path, HASH),
    txReceiptMerkleHash: requireBase64(fields, 'txReceiptMerkleHash', path, HASH),
    info: requireBase64(fields, 'info', path, INFO),
    height: requireCount(fields, 'number', path),
    witness: requireText(fields, 'witness', path, PUBLIC_KEY),
    time: requireInt64(fields, 'time', path),
    sign: block['sign'],
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

/** The block's hash in base58. */
export const headHash = (head: Omit<RawHead, 'sign'>): string => encodeBase58(headHashBytes(head))

/**
 * The hashed bytes of `info` in a block's head, and the form in which nodes return them, by period (go-iost
 * rpc/convert.go and verifier/verifier.go):
 *
 * | Period | In the head | Returned by nodes of that period |
 * |---|---|---|
 * | genesis | nothing | null |
 * | blocks of old producers | `{"mode":M,"thread":T,"batch":[…] or null}` | `{"mode":M,"thread":T,"batch_index":[…]}` |
 * | since | `{}` | null for every block, whatever is in its head |
 */
const PLAIN = ['{}', '', '{"mode":0,"thread":0,"batch":null}'] as const

/**
 * The texts that `info` in the head may have if a node shows this `info` (compact JSON, `{}` for null) and
 * `orig_info`, which is the very text unless empty. An empty list: the answer is impossible.
 */
export function infoForms({ info, origInfo }: Pick<Block, 'info' | 'origInfo'>): readonly string[] {
  if (info === '{}') return origInfo === '' ? PLAIN : [origInfo]
  return origInfo === '' ? oldForms(info) : oldForms(info).filter(form => form === origInfo)
}

function oldForms(info: string): readonly string[] {
  const { mode, thread, batch_index: batch } = (tryParseJson(info) ?? {}) as Readonly<Record<string, unknown>>
  if (!Array.isArray(batch) || ![mode, thread, ...batch].every(Number.isSafeInteger)) return []
  if (info !== JSON.stringify({ mode, thread, batch_index: batch })) return []
  const written = `{"mode":${mode},"thread":${thread},"batch":`
  if (batch.length > 0) return [`${written}${JSON.stringify(batch)}}`]
  const empty = [`${written}null}`, `${written}[]}`]
  return mode === 0 && thread === 0 ? [...empty, ...PLAIN] : empty
}

/** `orig_info` of a block whose node shows no `info`: the text in its head, unless in a usual form. */
export function decodeOrigInfo(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString()
  return (PLAIN as readonly string[]).includes(text) ? '' : text
}

/** A signature in the chain's storage form. */
export type Signature = {
  /** 1: secp256k1, 2: ed25519. */
  readonly algorithm: number
  readonly sig: Uint8Array
  readonly pubKey: Uint8Array
}

/** All numbers but this one stand for secp256k1 (go-iost `crypto/algorithm.go` getBackend). */
const ED25519 = 2
/** The part of an algorithm's number that the chain keeps (`crypto/algorithm.go` Algorithm). */
const BYTE = 0xff
/** Length of a public key; the chain's keys of secp256k1 are compressed. */
const KEY_BYTES = { ed25519: 32, secp256k1: 33 }
/** Prefix of an ed25519 key in the form of SubjectPublicKeyInfo (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** Parses `{algorithm, sig, pubKey}`. Throws Failure 'bad_block'. */
export function decodeSignature(value: unknown, path: Path): Signature {
  const fields: JsonFields = expectObject(value, path)
  return {
    algorithm: requireInteger(fields, 'algorithm', path),
    sig: requireBase64(fields, 'sig', path, SIGNATURE),
    pubKey: requireBase64(fields, 'pubKey', path, PUBLIC_KEY),
  }
}

const keys = new Map<string, KeyObject>()
/** There are some hundred producers; keys that a lying node invents must not fill the memory. */
const MAX_KEYS = 1_000

function createWitnessKey(witness: string, bytes: Uint8Array): KeyObject {
  const known = keys.get(witness)
  if (known !== undefined) return known
  if (keys.size >= MAX_KEYS) keys.clear()
  const key = createPublicKey({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' })
  keys.set(witness, key)
  return key
}

/**
 * The reason why the signature of a block's head is invalid; undefined: it is valid. `hash` is the block's hash,
 * `witness` the key (base58) in its head. Throws Failure 'bad_block' if `sign` does not have the form of a signature.
 */
export function signatureFault(
  hash: Uint8Array,
  { witness, sign: given }: Pick<RawHead, 'witness' | 'sign'>,
): string | undefined {
  const sign = decodeSignature(given, { above: { key: 'head' }, key: 'sign' })
  if (sign.sig.length === 0) return 'its head has no signature'
  const kind = (sign.algorithm & BYTE) === ED25519 ? 'ed25519' : 'secp256k1'
  const key = base58Bytes(witness)
  if (key?.length !== KEY_BYTES[kind])
    return `its witness "${witness.slice(0, 60)}" is not a public key of ${kind}, which is algorithm ${sign.algorithm} of its signature`
  if (Buffer.compare(key, sign.pubKey) !== 0)
    return `its signature was made with another key than its witness ${witness}`
  try {
    const isValid =
      kind === 'ed25519'
        ? verify(null, hash, createWitnessKey(witness, key), sign.sig)
        : secp256k1.verify(sign.sig, hash, key, { prehash: false, lowS: true })
    if (isValid) return undefined
  } catch {
    // The key is not a point of the curve, so no signature is valid for it.
  }
  return `the signature of its witness ${witness} is not valid`
}
