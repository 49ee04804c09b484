import type { KeyTerms, StoredKey } from '#store/keys-port.ts'
import type { Store } from '#store/port.ts'

/**
 * Copies the API keys. A key that an earlier run copied gets the current terms of the source. A key that was
 * revoked in either store stays revoked, since it may have leaked.
 */
export const copyKeys = async (
  { keys: from }: Pick<Store, 'keys'>,
  { keys: to }: Pick<Store, 'keys'>,
): Promise<void> => {
  const there = new Map((await to.list()).map(key => [key.id, key]))
  for (const key of await from.list()) {
    const copied = there.get(key.id)
    if (copied === undefined) await to.add(key)
    else if (!Bun.deepEquals(termsOf(copied), termsFor(key, copied))) await to.change(key.id, now => termsFor(key, now))
  }
}

const termsOf = ({ id, hash, created, ...terms }: StoredKey): KeyTerms => terms

/** The terms of the source's key, with the earlier of the two times of revocation. */
const termsFor = (key: StoredKey, copied: KeyTerms): KeyTerms => {
  const times = [key.revoked, copied.revoked].filter(time => time !== undefined)
  return { ...termsOf(key), ...(times.length === 0 ? {} : { revoked: Math.min(...times) }) }
}
