import { Failure } from '#failure/failure.ts'
import { requireSameDigests } from './compare.ts'
import type { Digest } from './digest.ts'
import { findKeysDigest, KEYS } from './keys-digest.ts'
import type { StoreManifest } from './manifest.ts'

/** Throws 'conflict' for another chain, height or derivation, 'damaged' with the index that differs or for other API keys. */
export function requireSame(name: string, found: StoreManifest, manifest: StoreManifest): void {
  for (const of of ['chainId', 'genesis', 'derivation', 'height', 'hash'] as const)
    if (found[of] !== manifest[of])
      throw new Failure('conflict', `${name}: its ${of} is ${found[of]}, but the manifest says ${manifest[of]}.`, {
        help: 'The manifest belongs to another copy.',
      })
  requireSameDigests(name, ofDocuments(found.digests), ofDocuments(manifest.digests))
  requireSameKeys(name, found.digests, manifest.digests)
}

const ofDocuments = (digests: readonly Digest[]): readonly Digest[] => digests.filter(({ index }) => index !== KEYS)

/** Manifests of earlier versions have no digest of keys. */
function requireSameKeys(name: string, found: readonly Digest[], expected: readonly Digest[]): void {
  const [has, wanted] = [found, expected].map(findKeysDigest)
  if (wanted === undefined || (has?.documents === wanted.documents && has.sum === wanted.sum)) return
  throw new Failure('damaged', `${name}: its API keys are not those of the manifest.`, {
    help: 'Keys were added, changed or removed since the copy was made: restore it again, or take another one.',
    details: { index: KEYS },
  })
}
