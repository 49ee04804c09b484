export type ReadPage = Awaited<ReturnType<typeof readPage>>

const LINKING = ['a', 'link', 'script', 'form', 'img']

/** The rewriter returns texts with their character references. */
export const unescapeHtml = (html: string): string =>
  html.replaceAll(/&(#39|#x27|#34|quot|lt|gt|amp);/g, (_, name: string) => CHARACTERS[name] ?? '')
const CHARACTERS: Readonly<Record<string, string>> = {
  ...{ '#39': "'", '#x27': "'", '#34': '"', quot: '"', lt: '<', gt: '>', amp: '&' },
}

export async function readPage(html: string) {
  const read = { title: '', heading: '', text: '', inline: '' }
  const links: { readonly href: string; readonly tag: string }[] = []
  const values: string[] = []
  const derived: string[] = []
  const parts = new Set<string>()
  const gather = (field: keyof typeof read) => ({
    text: ({ text }: { readonly text: string }) => {
      read[field] += text
    },
  })
  const rewriter = new HTMLRewriter()
    .on('*', {
      element: element => {
        parts.add(element.tagName)
        for (const [name, value] of element.attributes) {
          parts.add(`${element.tagName}@${name}`)
          if (element.tagName === 'data' && name === 'value') values.push(unescapeHtml(value))
          if (['href', 'src', 'action'].includes(name) && LINKING.includes(element.tagName))
            links.push({ href: unescapeHtml(value), tag: element.tagName })
        }
      },
    })
    .on('.portion data, .bands data', {
      element: element => {
        derived.push(element.getAttribute('value') ?? '')
      },
    })
    .onDocument(gather('text'))
    .on('title', gather('title'))
    .on('h1', gather('heading'))
    .on('script', gather('inline'))
    .on('style', gather('inline'))
  await rewriter.transform(new Response(html)).text()
  const { title, inline } = read
  return {
    ...{ html, title, inline, text: unescapeHtml(read.text), heading: unescapeHtml(read.heading) },
    ...{ links, values },
    /** The values that are shares of a whole. */
    derived,
    /** Names of elements, and of attributes with their element: `a@href`. */
    parts,
  }
}

export const figuresIn = (html: string): readonly string[] =>
  [...html.matchAll(/<data value="([^"]*)"/g)].map(([, value = '']) => value)

/** The points of the first plot after a text, as `name: value`; none if there is no such plot. */
export function pointsAfter(html: string, text: string): readonly string[] {
  const [, points = ''] = /^.*?data-points="([^"]*)"/s.exec(html.split(text)[1] ?? '') ?? []
  return points === '' ? [] : points.replaceAll(',', '').split('|')
}

/** The table of records or movements of a page. */
export const tableIn = (html: string): string => /data-live="(?:records|movements)".*?<\/table>/s.exec(html)?.[0] ?? ''

export const hashesIn = (html: string): readonly string[] =>
  [...tableIn(html).matchAll(/\/tx\/(\w+)"/g)].map(([, hash = '']) => hash)

/** The NFTs that a page links to. */
export const nftsOn = ({ links }: Pick<ReadPage, 'links'>): readonly string[] =>
  links.flatMap(({ href }) => /nft\/([^/?]+\/\d+)$/.exec(href)?.[1] ?? [])

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
