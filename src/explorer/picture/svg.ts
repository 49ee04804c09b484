import { beginningOf, shortened, visible } from '../format/visible.ts'
import { type Drawn, type Fact, SIZE } from './picture.ts'

/** Margin at the sides, and gap between the columns of facts. */
const MARGIN = 80
const ROOM = SIZE.width - 2 * MARGIN
const COLUMN = (ROOM - 40) / 2
/** Estimated width of a letter as a share of its height. Few lines of names and figures are wider. */
const LETTER = 0.62
/** Maximum length of a text before it is shortened. */
const MOST = 48

const GROUND = '#1b4fd6'
const [TEXT, SOFT] = ['#101828', '#5b6475']

/** A picture as SVG, for a renderer with the pictures' only font. */
export const svgOf = ({ kind, name, facts }: Drawn): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${SIZE.width}" height="${SIZE.height}">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    `<rect width="100%" height="24" fill="${GROUND}"/>`,
    textAt({ x: MARGIN, y: 118, size: 36, colour: GROUND }, kind),
    textAt({ x: MARGIN, y: 214, size: fitting(name, ROOM, 88), colour: TEXT }, name),
    ...facts.map(factAt),
    textAt({ x: MARGIN, y: 584, size: 28, colour: SOFT }, 'IOST explorer'),
    '</svg>',
  ].join('')

const factAt = ([name, value]: Fact, at: number): string => {
  const x = MARGIN + (at % 2) * (COLUMN + 40)
  const y = 306 + Math.floor(at / 2) * 124
  return [
    textAt({ x, y, size: 28, colour: SOFT }, name),
    textAt({ x, y: y + 54, size: fitting(value, COLUMN, 46), colour: TEXT }, value),
  ].join('')
}

type Place = { readonly x: number; readonly y: number; readonly size: number; readonly colour: string }

const textAt = ({ x, y, size, colour }: Place, text: string): string =>
  `<text x="${x}" y="${y}" font-size="${size}" fill="${colour}">${escaped(drawable(text))}</text>`

/** The font size at which a text fits. */
const fitting = (text: string, room: number, most: number): number =>
  Math.min(most, Math.floor(room / (LETTER * Math.max(1, drawable(text).length))))

/** A text in the font's characters, on one line. Other characters become `?`. */
const drawable = (text: string): string => {
  const known = visible(beginningOf(text, MOST).text === text ? text : shortened(text))
  return beginningOf(known.replaceAll(/[^ -~\u2026]/gu, '?'), 2 * MOST).text
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
