import type { Ask, AskContext } from '#actions/ask.ts'
import type { Text } from '#actions/define.ts'
import type { FormField } from './format/field.ts'

export type Html = JSX.Element

export const LANGUAGES = ['en', 'zh'] as const
export type Lang = (typeof LANGUAGES)[number]

/** The operator's names of accounts and contracts, by account or contract. */
export type Labels = ReadonlyMap<string, Text>

/** Data that all visits share. */
export type Site = {
  /** Whether the pages of the explorer are served. The reference and the status always are. */
  readonly isExplored: boolean
  readonly version: string
  /** The shared test key, with which a visitor can open the API calls of a page; absent: there is none. */
  readonly testKey?: string | undefined
  /** File names of the style, the scripts and the preview picture below `assets/`; each contains a hash of the file. */
  readonly assets: Readonly<Record<'style' | 'script' | 'theme' | 'preview', string>>
  readonly labels: Labels
  /** The public URL of the service, with a trailing slash; absent: addresses of pages stay relative. */
  readonly publicUrl?: string | undefined
}

/** One visit of one page. All its calls are answered at one height. */
export type Visit = AskContext & {
  readonly site: Site
  /** Like `ask`, for a call whose answer the page does not show. */
  readonly peek: Ask
  /** The relative path from the page to the root of the service, such as `../`: a proxy may remove a prefix. */
  readonly root: string
  /** The shorter relative path from the page to the home page in its language; absent: by `root`. */
  readonly home?: string
  readonly lang: Lang
  readonly say: (text: Text) => string
  /** The first open segment of the page's path, such as the name of an account; `""`: none. */
  readonly id: string
  /** The second open segment of the page's path, such as the id of an NFT; `""`: none. */
  readonly part: string
  /** The address of the service in this request, with a trailing slash. */
  readonly origin: string
  /** Whether `origin` is also the public address: a proxy may have another one. */
  readonly isOriginKnown: boolean
  readonly query: URLSearchParams
  /** The path of the page without language and prefix, such as `/account/admin`. */
  readonly path: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The properties of a part of a page: its own, and the visit. */
export type Props<P> = Readonly<P> & { readonly visit: Visit }

/** The content of a page, between header and footer. */
export type PageContent = {
  /** Title of the window, and in search results. */
  readonly title: string
  /** A sentence for search engines; absent: the title. */
  readonly description?: string
  readonly body: Html
  /** The canonical path of the page's thing, if another path may lead to it; absent: the requested path. */
  readonly path?: string
  /** Origin of the data, for the footer, if a node provided them; absent: they are stored, as of the published height. */
  readonly asOf?: Text | undefined
  /** Whether the page is one of many that are not worth indexing, such as page 7,341 of a list. */
  readonly isMinor?: boolean
  /** Media type of a page without header and footer, for programs such as the script of other pages. */
  readonly type?: string
}

/** A redirect to another page: its path without language and prefix. */
export type Redirect = { readonly to: string }

export type Page = {
  /**
   * The path; `{id}` is a placeholder for one segment, and `{part}` for one below it, such as an NFT in its collection.
   */
  readonly path: string
  /** The fields of the page's form, besides that for a page of its list. */
  readonly fields?: readonly FormField[]
  /** Throws Failure: 'not_found' with the missing name, 'bad_request', 'loading', 'unavailable'. */
  readonly show: (visit: Visit) => Promise<PageContent | Redirect>
}
