/** The parts of a page that tests check. */
export type ReadPage = {
  readonly html: string
  readonly title: string
  readonly heading: string
  /** All shown text, including the title. */
  readonly text: string
  /** Addresses as written, with the name of the element. */
  readonly links: readonly { readonly href: string; readonly tag: string }[]
  /** Exact values of figures. */
  readonly values: readonly string[]
  /** The values that are shares of a whole. */
  readonly derived: readonly string[]
  /** Names of elements, and of attributes with their element: `a@href`. */
  readonly parts: ReadonlySet<string>
  /** Texts of inline scripts and styles. */
  readonly inline: string
}

const LINKING = ['a', 'link', 'script', 'form', 'img'] as const

/** Reads a page with an HTML parser, as a browser does. */
export async function readPage(html: string): Promise<ReadPage> {
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

/** The rewriter returns texts with their character references. */
const unescaped = (text: string): string =>
  text
    .replaceAll('&#34;', '"')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
