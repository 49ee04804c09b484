import { Failure, withoutSecrets } from '#failure/failure.ts'
import type { Text } from '../text.ts'

/** Longest part of a caller's text that is repeated in a message, in characters. */
const SHOWN = 64

/**
 * A caller's text for a message: in quotes, cut after credentials were taken out, and with everything escaped that could disturb a log or a terminal
 * (controls, line separators, direction marks, lone surrogates).
 */
export const shown = (given: string): string => {
  const text = withoutSecrets(plainOf(given))
  const characters = [...text.slice(0, 2 * SHOWN)]
  const cut = characters.length > SHOWN || text.length > 2 * SHOWN
  const safe = characters
    .slice(0, SHOWN)
    .join('')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, mark => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`)
  return `'${safe}${cut ? '…' : ''}'`
}

/** The text itself, but decoded where its escapes hide a key. */
const plainOf = (text: string): string => {
  const decoded = text.replace(/%([0-7][0-9a-f])/gi, (_whole, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  return withoutSecrets(decoded) === decoded ? text : decoded
}

/** A failure of the caller's, in both languages. */
export const badRequest = (text: Text, details: Readonly<Record<string, string | number>> = {}): Failure =>
  new Failure('bad_request', text.en, { zh: text.zh, details })

/** One edit in so many letters is a typing error; more of them make another word, and its name would mislead. */
const LETTERS_PER_EDIT = 3

/**
 * The candidate that `name` is probably meant to be: the one that takes the fewest edits, the earlier one of equals.
 * undefined: none is near.
 */
export const nearest = (name: string, candidates: readonly string[]): string | undefined => {
  const wanted = name.slice(0, SHOWN).toLowerCase()
  let best: { readonly candidate: string; readonly edits: number } | undefined
  for (const candidate of candidates) {
    const edits = editsBetween(wanted, candidate.toLowerCase())
    const most = Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / LETTERS_PER_EDIT))
    if (edits <= most && (best === undefined || edits < best.edits)) best = { candidate, edits }
  }
  return best?.candidate
}

/** The end of a message about an unknown name: the one that it is probably meant to be, otherwise what `none` says. */
export const nearestText = (near: string | undefined, none: Text = { en: '.', zh: '。' }): Text =>
  near === undefined ? none : { en: `; the nearest one is '${near}'.`, zh: `；最接近的是 '${near}'。` }

/** Insertions, deletions and replacements that turn `a` into `b`. */
const editsBetween = (a: string, b: string): number => {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...a].entries()) {
    const line = [row + 1]
    for (const [column, other] of [...b].entries())
      line.push(
        Math.min(
          (above[column + 1] ?? 0) + 1,
          (line[column] ?? 0) + 1,
          (above[column] ?? 0) + (letter === other ? 0 : 1),
        ),
      )
    above = line
  }
  return above.at(-1) ?? 0
}
