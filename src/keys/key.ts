import { Failure } from '#failure/failure.ts'
import type { StoredKey } from '#store/port.ts'
import { type Holder, hashOfKey, parseKeyNumber } from './keyring.ts'
import type { Plan } from './plan.ts'

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 32 characters out of 62 are 190 bits: impossible to guess. */
const KEY_LETTERS = 32
/** Public identifier of a key: 2^40 values, and the store refuses one that exists. */
const ID_BYTES = 5
const NAME_LENGTH = 100
const NOTE_LENGTH = 500

/** Form of every key this service creates: `il_` and 32 letters or digits, so that leaked keys can be recognised. */
export const KEY_PATTERN = /^il_[0-9A-Za-z]{32}$/

type NewKey = {
  /** The key itself. Shown once, stored nowhere. */
  readonly key: string
  readonly stored: StoredKey
}

/**
 * Creates a key for a person or program. Times are in milliseconds since 1970. Nothing is stored yet: pass
 * `stored` to `KeyStore.add`. Throws 'usage' for an invalid name, plan or expiry.
 */
export function createKey(
  name: string,
  plan: Plan,
  options: { readonly now: number; readonly expires?: number | undefined; readonly note?: string | undefined },
): NewKey {
  checkName(name)
  if (options.note !== undefined) checkNote(options.note)
  checkRate('Requests per second', plan.perSecond)
  checkRate('Requests per day', plan.perDay)
  if (options.expires !== undefined && options.expires <= options.now)
    throw new Failure('usage', `Expiry ${new Date(options.expires).toISOString()} is not in the future.`)
  const key = `il_${randomLetters(KEY_LETTERS)}`
  const id = crypto.getRandomValues(new Uint8Array(ID_BYTES)).toHex()
  const { perSecond, perDay } = plan
  const { now, expires, note } = options
  return {
    key,
    stored: {
      id,
      hash: hashOfKey(key),
      name,
      perSecond,
      perDay,
      created: now,
      ...(expires === undefined ? {} : { expires }),
      ...(note === undefined ? {} : { note }),
    },
  }
}

/**
 * A new key for a holder, with the same plan. Times are in milliseconds since 1970; without `expires` the new key
 * expires when the present one does. Throws 'usage' when the holder is revoked, or the new key would have expired.
 */
export function createNextKey(
  { id, current, revoked }: Holder,
  { now, expires = current.expires }: { readonly now: number; readonly expires?: number | undefined },
): NewKey {
  if (revoked !== undefined)
    throw new Failure('usage', `Key ${id} is revoked; a revoked key cannot be rotated.`, {
      help: "Create another key with 'iostlens keys add'.",
    })
  if (expires !== undefined && expires <= now)
    throw new Failure('usage', `Key ${id} expired on ${new Date(expires).toISOString()}.`, {
      help: 'Set a new validity with --expires.',
    })
  const made = createKey(current.name, current, { now, expires })
  const { note } = current
  const stored = { ...made.stored, id: `${id}.${parseKeyNumber(current.id) + 1}` }
  return { key: made.key, stored: note === undefined ? stored : { ...stored, note } }
}

/** Throws 'usage' for an invalid name. */
export function checkName(name: string): void {
  if (name.length === 0 || name.length > NAME_LENGTH || name.trim() !== name || /\p{C}/u.test(name))
    throw new Failure(
      'usage',
      `Key name ${JSON.stringify(name)} is not 1 to ${NAME_LENGTH} printable characters without leading or trailing spaces.`,
    )
}

/** Throws 'usage' for a note that is not one printable line. */
export function checkNote(note: string): void {
  if (note.length === 0 || note.length > NOTE_LENGTH || /\p{C}/u.test(note))
    throw new Failure('usage', `The note ${JSON.stringify(note)} is not 1 to ${NOTE_LENGTH} printable characters.`)
}

function checkRate(what: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Failure('usage', `${what}: ${value} is not a whole number from 1.`)
}

/** All characters are equally likely: bytes from 248 (4 · 62) up are discarded. */
function randomLetters(count: number): string {
  let text = ''
  while (text.length < count)
    for (const byte of crypto.getRandomValues(new Uint8Array(count)))
      if (byte < 4 * LETTERS.length && text.length < count) text += LETTERS.charAt(byte % LETTERS.length)
  return text
}
