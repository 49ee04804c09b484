import { tryParseJson } from '#chain/json.ts'
import { Failure } from '#failure/failure.ts'
import type { KeyStore, KeyTerms, StoredKey } from '#store/keys-port.ts'
import type { Store } from '#store/port.ts'
import { isCount, toMembers } from '#store/published.ts'
import { isSha256 } from './digest.ts'

/** API keys as a text: a line of JSON for each key, and a last line with their number, so that a cut file is noticed. */
type KeyFile = {
  readonly keys: readonly StoredKey[]
  /** False: the store had more keys, which could not be read. */
  readonly isWhole: boolean
}

/** The text of keys. Their fields are those of the store: the hash of each key, never the key. */
export function formatKeys({ keys, isWhole }: KeyFile): string {
  const lines: readonly object[] = [...keys, { keys: keys.length, whole: isWhole }]
  return lines.map(line => `${JSON.stringify(line)}\n`).join('')
}

/** The keys in such a text. Throws 'usage' with the line that is not as it should be. */
export function parseKeys(text: string, file: string): KeyFile {
  const refuse = (what: string): never => {
    throw new Failure('usage', `${file} ${what}.`, { help: "Name a file that 'iostlens keys export' made." })
  }
  const lines = text.split('\n')
  if (lines.pop() !== '') refuse('does not end with a line end, so its end is missing')
  const { keys: count, whole } = toMembers(tryParseJson(lines.pop() ?? '')) ?? {}
  if (!isCount(count) || typeof whole !== 'boolean') refuse('has no last line with the number of its keys')
  if (lines.length !== count) refuse(`has ${lines.length} keys, but its last line says ${count}`)
  const seen = new Set<string>()
  const keys = lines.map((line, at) => {
    const key = readStoredKey(tryParseJson(line)) ?? refuse(`has a line ${at + 1} that is not a key`)
    if (seen.has(key.id)) refuse(`has the key ${key.id} twice`)
    seen.add(key.id)
    return key
  })
  return { keys, isWhole: whole === true }
}

/** A value as a stored key; undefined: it has not the form of one that this program stores. */
export function readStoredKey(value: unknown): StoredKey | undefined {
  const members = toMembers(value) ?? {}
  const { id, hash, name, note, perSecond, perDay, created, expires, revoked } = members
  const texts = [id, hash, name, note ?? '']
  const isKey =
    texts.every(text => typeof text === 'string') &&
    /^[0-9a-f]{10}(?:\.[1-9]\d*)?$/.test(String(id)) &&
    isSha256(hash) &&
    name !== '' &&
    !/\p{C}/u.test(`${name}${note ?? ''}`) &&
    [perSecond, perDay].every(limit => isCount(limit) && limit > 0) &&
    [created, expires ?? 0, revoked ?? 0].every(isCount) &&
    Object.keys(members).length === KNOWN.filter(field => members[field] !== undefined).length
  return isKey ? (members as StoredKey) : undefined
}

const KNOWN = ['id', 'hash', 'name', 'note', 'perSecond', 'perDay', 'created', 'expires', 'revoked'] as const

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
