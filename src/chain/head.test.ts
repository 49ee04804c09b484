import { describe, expect, test } from 'bun:test'
import { createPublicKey, verify } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { encodeBase58 } from './base58.ts'
import { encodeSimple, hashSimple, sha3 } from './hash.ts'
import { decodeOrigInfo, decodeRawHead, headHash, headHashBytes, signatureFault } from './head.ts'
import { type HashedTransaction, publishedParts } from './transaction-hash.ts'

// Answers that were made elsewhere: by mainnet's producers, and by an independent implementation of the encoding.

describe("the head of mainnet's block 102,492,000", () => {
  /** As a node of mainnet returned it; from the tests of a bridge to another chain. */
  const head = {
    version: '1',
    parentHash: 'ayIjoV383UIPRxlXM5AHtNmboqKZXZBhNl6rElpuCRA=',
    txMerkleHash: 'YghPcRrtsuJ/8AqXeK8DdFtOl8j9lyKeTT1rPpp/wBQ=',
    txReceiptMerkleHash: 'vSGIHJPnI6eWrJ5Oh6AZ/fe2DoIF35WY94kCwW2bPn4=',
    info: Buffer.from('{"mode":0,"thread":0,"batch":null}').toString('base64'),
    number: '102492000',
    witness: 'G5DPSoGy4J4y5ZzGQ5uPXbddJFCyzBzva2r5XjFSsNVa',
    time: '1603139621500090226',
  }
  const sign = {
    algorithm: 2,
    sig: 'BXoieBOEDU6/u5wsPvEjOAhR6es9kPOV4fObcQb0/lw1QUx5MpWut09McJXq75Rh4vt1eYv+SqF9CfTJVixPBQ==',
    pubKey: '3/OiFQp5j4y3AOAE5mfqImSIrdQHNLm0KqrEmzBJpw0=',
  }
  const read = (changed: Partial<typeof head> = {}) =>
    decodeRawHead({ head: { ...head, ...changed }, sign }, { key: 'mainnet' })

  test('has its hash, which its producer signed, and with any field changed another one', () => {
    expect(headHash(read())).toBe('2LrzqkV6GfSfB8KX11mhKMT3Wqw98LKbVTuG8xsQEw6D')
    expect(signatureFault(headHashBytes(read()), read())).toBeUndefined()
    expect(decodeOrigInfo(read().info)).toBe('')
    const other = Buffer.alloc(32, 1).toString('base64')
    for (const changed of [
      { version: '0' },
      { parentHash: other },
      { txMerkleHash: other },
      { txReceiptMerkleHash: other },
      { info: Buffer.from('{}').toString('base64') },
      { number: '102492001' },
      { time: '1603139621500090227' },
    ]) {
      const raw = read(changed)
      expect(signatureFault(headHashBytes(raw), raw)).toContain('is not valid')
    }
  })
})

describe('transactions of the library wallet-core (tests/chains/IOST/SignerTests.cpp)', () => {
  const SECRET =
    '63095105a37b4e896e5ebbd740e751c6f9df7cca2410beba3261dc5680299cebe812b52ea9ad5cba9a9af03afcc6f2942a4524b0df3c0344dc195072831670c4'
  const template: HashedTransaction = {
    ...{ time: 1_550_137_587_000_000_000n, expiration: 1_550_137_887_000_000_000n },
    ...{ gasRatio: 100n, gasLimit: 100_000_000n, delay: 0n, chainId: 1024, reserved: new Uint8Array() },
    ...{ signers: [], actions: [], amountLimit: [{ token: '*', value: 'unlimited' }], signs: [] },
    ...{ referredTx: new Uint8Array(), publisher: 'myname', publishSigns: [] },
  }

  test('a transfer: the signature of its publisher is valid', () => {
    const data = '["iost","myname","admin","10",""]'
    const tx = { ...template, actions: [{ contract: 'token.iost', actionName: 'transfer', data }] }
    const x = Buffer.from(SECRET.slice(64), 'hex').toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    const signature = Buffer.from(
      'e8ce15214bad39683021c15dd318e963da8541fd8f3d8484df5042b4ea7fdafb7f46505b85841367d6e1736c7d3b433ca72089b88a23f43661dfb0429a10cb03',
      'hex',
    )
    const isValid = (each: HashedTransaction) => verify(null, hashSimple(publishedParts(each)), key, signature)
    expect(isValid(tx)).toBe(true)
    expect(isValid({ ...tx, delay: 1n })).toBe(false)
  })

  test('a signed transaction: its encoding, byte for byte', () => {
    const secret = Buffer.from(SECRET, 'hex')
    const signature =
      '1e5e2de66512658e9317fa56766678166abcf492d020863935723db2030f736710e13437cef0981fcc376eae45349759508767d407b6c9963712910ada2c3606'
    const tx = {
      ...template,
      // The example has bytes where the chain has a name.
      signers: [secret as unknown as string],
      signs: [{ algorithm: 2, sig: Buffer.from(signature, 'hex'), pubKey: secret }],
    }
    expect(Buffer.from(encodeSimple(publishedParts(tx))).toString('hex')).toBe(
      [
        '158331ec221dbe00',
        '15833231fb827600',
        '0000000000000064',
        '0000000005f5e100',
        '0000000000000000',
        '00000400',
        '00000000',
        `0000000100000040${SECRET}`,
        '00000000',
        '0000000100000012000000012a00000009756e6c696d69746564',
        `00000001000000890200000040${signature}00000040${SECRET}`,
      ].join(''),
    )
  })
})

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
