import { tryParseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import { describeForeign, fetchChain } from '#node/pool.ts'
import type { Node } from '#node/port.ts'
import type { Identity } from '#store/port.ts'
import { asRecord, isCount, isHeight } from '#store/published.ts'
import { type Digest, findKeysDigest, KEYS, requireSameDigests } from './digest.ts'

/** Version of the manifest's format. */
const FORMAT = 1

/** Description of a copy of a store, stored beside it. A restored or copied store must match it. */
export type StoreManifest = Identity & {
  /** Height of the last block. */
  readonly height: number
  readonly hash: string
  readonly digests: readonly Digest[]
  /** Size and hash of the copy itself, if it is a single file. */
  readonly file?: { readonly bytes: number; readonly sha256: string }
}

/** The text of a manifest: JSON sealed with the SHA-256 of its other members. */
export const manifestText = (manifest: StoreManifest): string =>
  `${JSON.stringify({ ...toManifestMembers(manifest), seal: computeSeal(manifest) }, null, 2)}\n`

const toManifestMembers = ({ chainId, genesis, derivation, height, hash, digests, file }: StoreManifest) => ({
  format: FORMAT,
  chain_id: chainId,
  genesis,
  derivation,
  height,
  hash,
  documents: sumDocuments(digests),
  digests: digests.map(({ index, partition, documents, sum, operation }) => ({
    index,
    partition,
    documents,
    sum,
    operation,
  })),
  file: file === undefined ? undefined : { bytes: file.bytes, sha256: file.sha256 },
})

const computeSeal = (manifest: StoreManifest): string =>
  new Bun.CryptoHasher('sha256').update(JSON.stringify(toManifestMembers(manifest))).digest('hex')

/**
 * The number of documents in all indices. `lists.starts` and `api.keys` are left out: they count parts of
 * documents, and keys.
 */
export const sumDocuments = (digests: readonly Digest[]): number =>
  digests.reduce((all, { index, documents }) => all + (index.includes('.') ? 0 : documents), 0)

/**
 * Parses a manifest and checks its seal: with a correct seal, the digest of the copy's file belongs to these digests.
 * Throws 'damaged' for a text that is no manifest, 'conflict' for a newer format; `from` names the text in messages.
 */
export function readManifest(
  text: string,
  from: string,
): { readonly manifest: StoreManifest; readonly isSealed: boolean } {
  const members = asRecord(tryParseJson(text)) ?? {}
  const { format, chain_id: chainId, seal } = members
  if (isCount(format) && format > FORMAT)
    throw new Failure('conflict', `${from} is a manifest of form ${format}; this version reads ${FORMAT}.`, {
      help: 'Use the version that wrote it.',
    })
  const { genesis, derivation, height, hash, digests, file } = members
  const ofFile = asRecord(file)
  const isWhole =
    format === FORMAT &&
    [chainId, derivation].every(isCount) &&
    isHeight(height) &&
    [genesis, hash].every(each => typeof each === 'string' && each !== '') &&
    Array.isArray(digests) &&
    digests.every(isDigest) &&
    (file === undefined || (isCount(ofFile?.['bytes']) && isSha256(ofFile['sha256'])))
  if (!isWhole)
    throw new Failure('damaged', `${from} is not a manifest of a store.`, {
      help: "Use the manifest that 'iostlens backup' wrote beside the copy.",
    })
  // Each member was checked above.
  const manifest = { chainId, genesis, derivation, height, hash, digests, file } as unknown as StoreManifest
  return { manifest, isSealed: seal === computeSeal(manifest) }
}

const isSha256 = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)

function isDigest(value: unknown): boolean {
  const { index, partition, documents, sum, operation } = asRecord(value) ?? {}
  return (
    typeof index === 'string' &&
    (partition === undefined || isCount(partition)) &&
    isCount(documents) &&
    isSha256(sum) &&
    (operation === undefined || operation === -1 || isCount(operation))
  )
}

/**
 * Throws 'conflict' unless the last block of a copy is on the node's chain. The node's block is proved at the
 * level of the node. Throws 'unavailable' while the node does not have the block.
 */
export async function requireOnChain(
  node: Pick<Node, 'name' | 'chainInfo' | 'blockHash' | 'blocks'>,
  { chainId, genesis, height, hash }: Pick<StoreManifest, 'chainId' | 'genesis' | 'height' | 'hash'>,
  signal: AbortSignal,
): Promise<void> {
  const info = await fetchChain(node, signal)
  const why = describeForeign({ chainId, genesis }, info)
  if (why !== undefined)
    throw new Failure('conflict', `The copy is of another chain than ${node.name} serves: ${why}.`, {
      help: 'Set --node to a node of the chain that the copy is of.',
    })
  if (info.libBlock < height)
    throw new Failure('unavailable', `The copy ends at block ${height}, but ${node.name} at block ${info.libBlock}.`, {
      help: 'Wait until the node has it, or set another one.',
    })
  for await (const { block } of node.blocks({ from: height, to: height, lib: info.libBlock, signal })) {
    if (block.hash === hash) return
    throw new Failure(
      'conflict',
      `The copy ends with block ${height} ${hash}, but that block of ${node.name} is ${block.hash}: they are of different chains.`,
      { help: 'Set --node to a node of the chain that the copy is of, or take another copy.' },
    )
  }
  throw new Failure('unavailable', `The node ${node.name} did not return block ${height}.`)
}

/** Throws 'conflict' for another chain, height or derivation, 'damaged' with the index that differs or for other API keys. */
export function requireSame(name: string, found: StoreManifest, manifest: StoreManifest): void {
  for (const of of ['chainId', 'genesis', 'derivation', 'height', 'hash'] as const)
    if (found[of] !== manifest[of])
      throw new Failure('conflict', `${name}: its ${of} is ${found[of]}, but the manifest says ${manifest[of]}.`, {
        help: 'The manifest belongs to another copy.',
      })
  const [ofFound, ofManifest] = [found, manifest].map(each => each.digests.filter(({ index }) => index !== KEYS))
  requireSameDigests(name, ofFound ?? [], ofManifest ?? [])
  const [has, wanted] = [findKeysDigest(found.digests), findKeysDigest(manifest.digests)]
  // Manifests of earlier versions have no digest of keys.
  if (wanted === undefined || (has?.documents === wanted.documents && has.sum === wanted.sum)) return
  throw new Failure('damaged', `${name}: its API keys are not those of the manifest.`, {
    help: 'Keys were added, changed or removed since the copy was made: restore it again, or take another one.',
    details: { index: KEYS },
  })
}
