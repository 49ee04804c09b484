import type { KeyStore, StoredKey } from '#store/keys-port.ts'
import type { Digest } from './digest.ts'
import { DigestSum } from './sum.ts'

/** Name of the digest of the API keys. They are not documents of the chain: each store has its own. */
export const KEYS = 'api.keys'

/** The digest of all keys of a store, over all stored fields of each. */
export async function computeKeysDigest(keys: Pick<KeyStore, 'list'>): Promise<Digest> {
  const sum = new DigestSum()
  for (const key of await keys.list()) sum.add(formatKeyText(key))
  return { index: KEYS, ...sum.result() }
}

/** The digest of API keys in a manifest; undefined when an earlier version wrote it. */
export const findKeysDigest = (digests: readonly Digest[]): Digest | undefined =>
  digests.find(({ index }) => index === KEYS)

const formatKeyText = ({ id, hash, name, note, perSecond, perDay, created, expires, revoked }: StoredKey): string =>
  JSON.stringify([id, hash, name, note ?? null, perSecond, perDay, created, expires ?? null, revoked ?? null])
