import type { KeyStore, StoredKey } from '#store/keys-port.ts'
import type { Digest } from './digest.ts'
import { DigestSum } from './sum.ts'

/** The entry of a manifest for the API keys. They are no documents of the chain: two stores of the same blocks have other ones. */
export const KEYS = 'api.keys'

/** The digest of all keys of a store, of all that is stored of each. */
export const keysDigestOf = async (keys: Pick<KeyStore, 'list'>): Promise<Digest> => {
  const sum = new DigestSum()
  for (const key of await keys.list()) sum.add(textOf(key))
  return { index: KEYS, ...sum.result() }
}

const textOf = ({ id, hash, name, note, perSecond, perDay, created, expires, revoked }: StoredKey): string =>
  JSON.stringify([id, hash, name, note ?? null, perSecond, perDay, created, expires ?? null, revoked ?? null])
