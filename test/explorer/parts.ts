import type { ReadPage } from './read-page.ts'

/** All elements of our pages. Elements that a text of the chain could add are not among them. */
const ELEMENTS = new Set(
  [
    'html head meta title link script body a header div span search form input button nav main footer p',
    'section h1 h2 h3 small bdi dl dt dd table thead tbody tr th td time data details summary pre code ul ol li',
    'label datalist option select svg rect path g text desc line polyline circle figure figcaption i b strong em',
  ].flatMap(line => line.split(' ')),
)
/** Attributes that run something, or add styles outside our own file. */
const ACTING = /@(?:on.*|style|srcdoc|formaction|background|ping|xlink:href)$/
const SCHEME = /^\s*(?:javascript|data|vbscript):/i

/** Parts of a page that only a text of the chain can have added. */
export const foreignIn = ({ parts, links, inline }: ReadPage): readonly string[] => [
  ...[...parts].filter(part => (part.includes('@') ? ACTING.test(part) : !ELEMENTS.has(part))),
  ...links.filter(({ href }) => SCHEME.test(href)).map(({ href }) => href),
  ...(inline.trim() === '' ? [] : [`inline: ${inline}`]),
]
