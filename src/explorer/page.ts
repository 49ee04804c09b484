import type { Asking } from '#actions/ask.ts'
import type { Text } from '#actions/text.ts'

/** HTML as the JSX runtime makes it. */
export type Html = JSX.Element

export const LANGUAGES = ['en', 'zh'] as const
export type Lang = (typeof LANGUAGES)[number]

/** An operator's names for accounts and contracts, by account or contract. */
export type Labels = ReadonlyMap<string, Text>

/** Data that is the same for every visit. */
export type Site = {
  /** Whether the pages of the explorer are served; the reference and the status are in any case. */
  readonly isExplored: boolean
  readonly version: string
  /** The shared test key, with which a visitor can open the calls of a page; absent: there is none. */
  readonly testKey?: string | undefined
  /** Names of the style and the scripts below `assets/`; each names its contents. */
  readonly assets: {
    readonly style: string
    readonly script: string
    readonly theme: string
  }
  readonly labels: Labels
  /** Where the service is found on the web, with a slash at its end; absent: addresses of pages stay relative. */
  readonly publicUrl?: string | undefined
}

/** One visit of one page. Its calls are all answered at one height. */
export type Visit = Asking & {
  readonly site: Site
  /** Leads from the page's address to the root of the service, such as `../`: a proxy may take a prefix off. */
  readonly root: string
  /** Leads from there to the home page in the page's language, the shorter way; absent: by the root. */
  readonly home?: string
  readonly lang: Lang
  /** The text in the visitor's language. */
  readonly say: (text: Text) => string
  /** The part of the path that the page's address leaves open, such as the name of an account; `""`: none. */
  readonly id: string
  /** The segment after it that the page's address leaves open, such as the number of an NFT; `""`: none. */
  readonly part: string
  /** The address of the service with a slash at its end, as it was asked. */
  readonly origin: string
  /** Whether that is where others find it, too: a proxy between may stand at another one. */
  readonly isOriginKnown: boolean
  /** Parameters of the address. */
  readonly query: URLSearchParams
  /** The address of the page without language and prefix, such as `/account/admin`. */
  readonly path: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The content of a page, between the head and the foot that all pages have. */
export type Shown = {
  /** Of the window, and of search results. */
  readonly title: string
  /** A sentence for search engines; absent: the title. */
  readonly description?: string
  readonly body: Html
  /** The path that names its thing as the chain does, where another one may have been given; absent: the one that was asked. */
  readonly path?: string
  /** What the data are of, for the foot, where a node gave them; absent: they are stored, and of the published height. */
  readonly asOf?: Text | undefined
  /** The page is one of very many that nobody looks for, such as page 7,341 of a list. */
  readonly isMinor?: boolean
  /** The body is all there is, and of this type: a page for programs, such as the script of other pages. */
  readonly type?: string
}

/** A page that only leads to another one: its path without language and prefix. */
export type Elsewhere = { readonly to: string }

export type Page = {
  /** Its path; `{id}` stands for one segment, and `{part}` for one that names a thing within that of `{id}`. */
  readonly path: string
  /** Throws Failure: 'not_found' with what was looked for, 'bad_request', 'loading', 'unavailable'. */
  readonly show: (visit: Visit) => Promise<Shown | Elsewhere>
}
