/** Signs that change how the text around them is shown, or are not seen at all: controls, marks of direction, joiners. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/gu

/** The joiner of an emoji of several parts: it stands between two of them, and changes nothing else. */
const JOINER =
  /(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})/gu

/**
 * A text of the chain as it can be shown: what is not seen is written as `\u{202e}`; line ends, tabs and the joiners of emoji
 * stay.
 */
export const visible = (text: string): string => text.split(JOINER).map(seen).join('\u200d')

const seen = (text: string): string =>
  text.replaceAll(UNSEEN, sign =>
    sign === '\n' || sign === '\t' ? sign : `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`,
  )

/** The first `most` letters of a text, and whether they are all of it. */
export const beginningOf = (
  text: string,
  most: number,
): { readonly text: string; readonly isWhole: boolean } => {
  if (text.length <= most) return { text, isWhole: true }
  // Not in the middle of a letter of two code units.
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most
  return { text: text.slice(0, end), isWhole: false }
}

/** The first `most` letters of a text as they can be shown, and `…` where there are more. */
export const cut = (text: string, most: number): string => {
  const { text: first, isWhole } = beginningOf(text, most)
  return isWhole ? visible(first) : `${visible(first)}…`
}

/** A text as one line of at most `most` characters, for titles and search results. */
export const oneLine = (text: string, most: number): string => {
  // Invisible characters are written out, which makes the line longer: it is bounded before and after.
  const line = visible(
    beginningOf(text, most + 1)
      .text.replaceAll(/\s+/g, ' ')
      .trim(),
  )
  return line.length <= most ? line : `${beginningOf(line, most - 1).text}…`
}

/** `Contract7QzLw…N5nX`, `8fd02c…91ab`: enough of a long name to tell it from others. */
export const shortened = (name: string): string =>
  name.length <= 24 ? name : `${name.slice(0, 10)}…${name.slice(-6)}`
