import type { KeyTerms, StoredKey } from '#store/keys-port.ts'
import type { Store } from '#store/port.ts'

/**
 * Copies the API keys. A key that an earlier run copied gets the terms that it has at the source now. A key that was revoked
 * at either store stays revoked: whoever revoked it wants it refused.
 */
export const copyKeys = async (
  { keys: from }: Pick<Store, 'keys'>,
  { keys: to }: Pick<Store, 'keys'>,
): Promise<void> => {
  const there = new Map((await to.list()).map(key => [key.id, key]))
  for (const key of await from.list()) {
    const copied = there.get(key.id)
    if (copied === undefined) await to.add(key)
    else if (!hasTerms(copied, withTerms(key, copied))) await to.change(key.id, now => withTerms(key, now))
  }
}

/** The terms of the source's key, revoked as early as either of them was. */
const withTerms = (
  { name, note, perSecond, perDay, expires, revoked: atSource }: StoredKey,
  { revoked: atCopy }: KeyTerms,
): KeyTerms => {
  const revoked = Math.min(atSource ?? Number.POSITIVE_INFINITY, atCopy ?? Number.POSITIVE_INFINITY)
  return {
    ...{ name, perSecond, perDay },
    ...(note === undefined ? {} : { note }),
    ...(expires === undefined ? {} : { expires }),
    ...(revoked === Number.POSITIVE_INFINITY ? {} : { revoked }),
  }
}

const NAMES = [
  'name',
  'note',
  'perSecond',
  'perDay',
  'expires',
  'revoked',
] as const satisfies readonly (keyof KeyTerms)[]

const hasTerms = (key: KeyTerms, terms: KeyTerms): boolean => NAMES.every(name => key[name] === terms[name])
