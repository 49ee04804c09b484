import { Exact, writeJson } from '#chain/json.ts'

/**
 * Invisible characters, and characters that change the display of the text around them: controls, direction
 * marks, joiners, letters without a shape. So are marks above others, which would be drawn over the lines around
 * them; no language needs more than four on a letter. Selectors of the form of an emoji or a Chinese character stay.
 */
const UNSEEN = new RegExp(
  [
    String.raw`(?!(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|\ufe0f\u20e3|(?<=\p{Script=Han})[\u{e0100}-\u{e01ef}])`,
    String.raw`[\p{Cc}\p{Cf}\p{DI}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\u2800]|(?<=\p{M}{4})\p{M}`,
  ].join(''),
  'gu',
)

/** The zero-width joiner between two parts of an emoji, which has no other effect there. */
const JOINER = /(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})/gu

/**
 * A text of the chain that is safe to display: invisible characters are written as `\u{202e}`. Tabs and the
 * joiners of emoji are kept, and line ends are `\n`: a contract written on Windows has others.
 */
export const revealInvisible = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .split(JOINER)
    .map(text =>
      text.replaceAll(UNSEEN, sign =>
        sign === '\n' || sign === '\t' ? sign : `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`,
      ),
    )
    .join('\u200d')

/** The first `most` characters of a text, and whether they are the whole text. */
export function cutText(text: string, most: number): { readonly text: string; readonly isWhole: boolean } {
  if (text.length <= most) return { text, isWhole: true }
  // Neither a surrogate pair nor a line end of two characters is split.
  const end = /[\ud800-\udbff\r]/.test(text.charAt(most - 1)) ? most - 1 : most
  return { text: text.slice(0, end), isWhole: false }
}

/** The first `most` characters of a text, safe to display, with `…` when it is longer. */
export function cut(text: string, most: number): string {
  const { text: first, isWhole } = cutText(text, most)
  return isWhole ? revealInvisible(first) : `${revealInvisible(first)}…`
}

/** A text as one line of at most `most` characters, for titles and search results. */
export function toOneLine(text: string, most: number): string {
  // Escaping makes the line longer, so it is truncated before and after.
  const line = revealInvisible(
    cutText(text, most + 1)
      .text.replaceAll(/\s+/g, ' ')
      .trim(),
  )
  return line.length <= most ? line : `${cutText(line, most - 1).text}…`
}

/** `Contract7QzLw…N5nX`, `8fd02c…91ab`: enough of a long name to distinguish it from others. */
export const shortenName = (name: string): string =>
  name.length <= 24 ? name : `${name.slice(0, 10)}…${name.slice(-6)}`

/** Maximum length of the name of a contract's action. */
const MAX = 32

/** The name of an action in a row. A failed call may contain a name of any length. */
export const actionText = (name: string): string => cut(name, MAX)

/** Maximum length of a word that the publisher of a contract or a transaction chose, such as the name of an argument. */
const MAX_OF_WORD = 64

/** A word of a publisher: of an argument, a type or a limit. */
export function cutWord(word: string): string {
  return cut(word, MAX_OF_WORD)
}

/** A value as readable text: strings and numbers as they are, all else as JSON. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return value
  return value instanceof Exact ? value.text : writeJson(value)
}
