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
export const visible = (text: string): string => text.replaceAll('\r\n', '\n').split(JOINER).map(seen).join('\u200d')

const seen = (text: string): string =>
  text.replaceAll(UNSEEN, sign =>
    sign === '\n' || sign === '\t' ? sign : `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`,
  )

/** The first `most` characters of a text, and whether they are the whole text. */
export const beginningOf = (text: string, most: number): { readonly text: string; readonly isWhole: boolean } => {
  if (text.length <= most) return { text, isWhole: true }
  // Neither a surrogate pair nor a line end of two characters is split.
  const end = /[\ud800-\udbff\r]/.test(text.charAt(most - 1)) ? most - 1 : most
  return { text: text.slice(0, end), isWhole: false }
}

/** The first `most` characters of a text, safe to display, with `…` when it is longer. */
export const cut = (text: string, most: number): string => {
  const { text: first, isWhole } = beginningOf(text, most)
  return isWhole ? visible(first) : `${visible(first)}…`
}

/** A text as one line of at most `most` characters, for titles and search results. */
export const oneLine = (text: string, most: number): string => {
  // Escaping makes the line longer, so it is truncated before and after.
  const line = visible(
    beginningOf(text, most + 1)
      .text.replaceAll(/\s+/g, ' ')
      .trim(),
  )
  return line.length <= most ? line : `${beginningOf(line, most - 1).text}…`
}

/** `Contract7QzLw…N5nX`, `8fd02c…91ab`: enough of a long name to distinguish it from others. */
export const shortened = (name: string): string => (name.length <= 24 ? name : `${name.slice(0, 10)}…${name.slice(-6)}`)
