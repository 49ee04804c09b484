import { Failure } from '#failure/failure.ts'
import type { KeyStore, KeyTerms, StoredKey } from '#store/keys-port.ts'
import type { Store } from '#store/port.ts'

/** Number of keys that are added with one write. */
const AT_ONCE = 1_000

/**
 * Copies the API keys. A key that an earlier run copied gets the current terms of the source. A key that was
 * revoked in either store stays revoked, since it may have leaked.
 */
export async function copyKeys(
  { keys: from }: { readonly keys: Pick<KeyStore, 'list'> },
  { keys: to }: Pick<Store, 'keys'>,
): Promise<void> {
  const there = new Map((await to.list()).map(key => [key.id, key]))
  const keys = await from.list()
  const missing = keys.filter(({ id }) => !there.has(id))
  for (let at = 0; at < missing.length; at += AT_ONCE) await to.add(...missing.slice(at, at + AT_ONCE))
  for (const key of keys) {
    const copied = there.get(key.id)
    if (copied === undefined) continue
    if (copied.hash !== key.hash)
      throw new Failure('conflict', `The id ${key.id} is that of different API keys in the two stores.`, {
        help: 'Ids are random, so this is another key: revoke one of the two, and create it anew.',
      })
    if (!Bun.deepEquals(pickTerms(copied), mergeTerms(key, copied)))
      await to.change(key.id, now => mergeTerms(key, now))
  }
}

const pickTerms = ({ id, hash, created, ...terms }: StoredKey): KeyTerms => terms

/** The terms of the source's key, with the earlier of the two times of revocation. */
function mergeTerms(key: StoredKey, copied: KeyTerms): KeyTerms {
  const times = [key.revoked, copied.revoked].filter(time => time !== undefined)
  return { ...pickTerms(key), ...(times.length === 0 ? {} : { revoked: Math.min(...times) }) }
}
