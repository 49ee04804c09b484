import { tryParseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { Identity } from '#store/port.ts'
import { asRecord, isCount, isHeight } from '#store/published.ts'
import type { Digest } from './digest.ts'

/** Version of the manifest's format. */
const FORMAT = 1

/** Size and hash of a whole file. */
export type FileDigest = { readonly bytes: number; readonly sha256: string }

/** Description of a copy of a store, stored beside it. A restored or copied store must match it. */
export type StoreManifest = Identity & {
  /** Height of the last block. */
  readonly height: number
  readonly hash: string
  readonly digests: readonly Digest[]
  /** The digest of the copy itself, if it is a single file. */
  readonly file?: FileDigest
}

/** The text of a manifest: JSON sealed with the SHA-256 of its other members. */
export const manifestText = (manifest: StoreManifest): string =>
  `${JSON.stringify({ ...toManifestMembers(manifest), seal: computeSeal(manifest) }, null, 2)}\n`

const toManifestMembers = ({ chainId, genesis, derivation, height, hash, digests, file }: StoreManifest) => ({
  format: FORMAT,
  chain_id: chainId,
  ...{ genesis, derivation, height, hash },
  documents: sumDocuments(digests),
  digests: digests.map(({ index, partition, documents, sum, operation }) => ({
    ...{ index, partition, documents, sum, operation },
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
  const isWhole =
    format === FORMAT &&
    [chainId, derivation].every(isCount) &&
    isHeight(height) &&
    [genesis, hash].every(each => typeof each === 'string' && each !== '') &&
    Array.isArray(digests) &&
    digests.every(isDigest) &&
    (file === undefined || isFile(file))
  if (!isWhole)
    throw new Failure('damaged', `${from} is not a manifest of a store.`, {
      help: "Use the manifest that 'iostlens backup' wrote beside the copy.",
    })
  // Each member was checked above.
  const manifest = { chainId, genesis, derivation, height, hash, digests, file } as unknown as StoreManifest
  return { manifest, isSealed: seal === computeSeal(manifest) }
}

const SHA256 = /^[0-9a-f]{64}$/
const isSha256 = (value: unknown): boolean => typeof value === 'string' && SHA256.test(value)

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

function isFile(value: unknown): boolean {
  const { bytes, sha256 } = asRecord(value) ?? {}
  return isCount(bytes) && isSha256(sha256)
}
