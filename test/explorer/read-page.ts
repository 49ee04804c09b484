/** What a test reads out of a page. */
export type ReadPage = {
  readonly html: string
  readonly title: string
  readonly heading: string
  /** All that is shown, the title too. */
  readonly text: string
  /** Addresses as they are written, with what the element is. */
  readonly links: readonly { readonly href: string; readonly tag: string }[]
  /** Exact values of figures. */
  readonly values: readonly string[]
  /** Those of them that are shares of a whole. */
  readonly derived: readonly string[]
  /** Names of elements, and attributes by their element: `a@href`. */
  readonly parts: ReadonlySet<string>
  /** Texts of scripts and styles that stand in the page itself. */
  readonly inline: string
}

const LINKING = ['a', 'link', 'script', 'form', 'img'] as const

/** Reads a page as a browser's parser does. */
export const readPage = async (html: string): Promise<ReadPage> => {
  const read = { title: '', heading: '', text: '', inline: '' }
  const links: { href: string; tag: string }[] = []
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
          if (element.tagName === 'data' && name === 'value') values.push(unescaped(value))
          if (['href', 'src', 'action'].includes(name) && LINKING.some(tag => tag === element.tagName))
            links.push({ href: unescaped(value), tag: element.tagName })
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
  return { html, ...read, heading: unescaped(read.heading), links, values, derived, parts }
}

/** The rewriter gives texts as they are written. */
const unescaped = (text: string): string =>
  text
    .replaceAll('&#34;', '"')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
