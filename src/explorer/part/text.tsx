/** @jsxImportSource @kitajs/html */
import { escapeHtml } from '@kitajs/html'
import type { Text } from '#actions/define.ts'
import { Exact } from '#chain/json.ts'
import { highlight, type Piece } from '../format/highlight.ts'
import { cut, cutText, revealInvisible } from '../format/text.ts'
import { toHref } from '../links.ts'
import type { Html, PageContent, Visit } from '../page.ts'
import { Fold } from './section.tsx'

/** The address of a page's whole text, which pages truncate. */
export const rawHref = (visit: Pick<Visit, 'root' | 'home' | 'lang' | 'path'>): string =>
  toHref(visit, `${visit.path}?raw=1`)

/** Whether the address requests the whole text. */
export const isRaw = ({ query }: Pick<Visit, 'query'>): boolean => query.get('raw') === '1'

/** A whole text, which browsers only display: as JSON or as plain text. */
export const rawText = (title: string, text: string, form: 'json' | 'plain'): PageContent => ({
  title,
  body: text,
  type: form === 'json' ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8',
})

type AllOfItProps = { readonly visit: Pick<Visit, 'say'>; readonly href: string }

export const AllOfIt = ({ visit, href }: AllOfItProps): Html => (
  <a href={href} rel="nofollow" safe>
    {visit.say({ en: 'Full text →', zh: '查看全文 →' })}
  </a>
)

/** Default maximum of displayed characters. */
const MAX_FOLDED = 8_192

type FoldedProps = {
  readonly visit: Visit
  readonly id: string
  readonly title: Text
  readonly text: string
  /** Maximum of displayed characters; absent: the default. */
  readonly most?: number
  /** Renders the displayed text; absent: unformatted. */
  readonly show?: (beginning: string) => Html
}

/** A collapsed long text. */
export function Folded({ visit, id, title, text, most = MAX_FOLDED, show = Plain }: FoldedProps): Html {
  const { text: shown, isWhole } = cutText(text, most)
  return (
    <Fold visit={visit} id={id} title={title}>
      {show(`${revealInvisible(shown)}${isWhole ? '' : '…'}`) as 'safe'}
      {!isWhole && (
        <p class="none">
          <span safe>
            {visit.say({
              en: `The first ${most} of ${text.length} characters.`,
              zh: `共 ${text.length} 个字符，此处为前 ${most} 个。`,
            })}
          </span>{' '}
          <AllOfIt visit={visit} href={rawHref(visit)} />
        </p>
      )}
    </Fold>
  )
}

const Plain = (text: string): Html => (
  <pre class="chain" tabindex="0" safe>
    {text}
  </pre>
)

/** A value as indented JSON. */
export const spreadJson = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) => (each instanceof Exact ? each.text : each), 2)

/** Maximum characters of a chain text that are shown at once, and after a press. */
const MAX_CLOSED = 240
const MAX_OPENED = 16_384

type ChainTextProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly text: string
  /** Whether the text is prose, such as a name or a memo; absent: every character matters, as in JSON. */
  readonly isProse?: boolean
  /** Address of the whole text; absent: it has none. */
  readonly whole?: string
}

/** A text from the chain, which may be hostile: truncated, with more of it in a collapsed part. */
export function ChainText({ visit, text, isProse = false, whole }: ChainTextProps): Html {
  const style = isProse ? 'prose' : 'chain'
  const short = cutText(text, MAX_CLOSED)
  if (short.isWhole)
    return (
      <bdi class={style} safe>
        {revealInvisible(text)}
      </bdi>
    )
  const long = cutText(text, MAX_OPENED)
  return (
    <details class="long">
      <summary>
        <bdi class={style} safe>
          {`${revealInvisible(short.text)}…`}
        </bdi>{' '}
        <small safe>{visit.say({ en: `${text.length} characters`, zh: `共 ${text.length} 个字符` })}</small>
      </summary>
      <pre class="chain" safe>
        {long.isWhole ? revealInvisible(text) : `${revealInvisible(long.text)}…`}
      </pre>
      {!long.isWhole && whole !== undefined && <AllOfIt visit={visit} href={whole} />}
    </details>
  )
}

/**
 * Maximum number of highlighted pieces. Each adds about 30 characters to the page, and code may consist of
 * numbers and commas.
 */
const MAX_MARKED = 1_500

/** The start of a line. CSS generates the line number, so that it is not copied with the code. */
const LINE = '<i></i>'

type CodeProps = {
  /** The code, safe to display. */
  readonly text: string
  /** The programming language. Only JavaScript is highlighted. */
  readonly language: string
}

/** Code with line numbers. Comments, strings, numbers and keywords each have a colour. */
export function Code({ text, language }: CodeProps): Html {
  const code = text.replace(/\n$/, '')
  const pieces: readonly Piece[] =
    language.toLowerCase() === 'javascript' ? highlight(code) : [{ kind: 'plain', text: code }]
  let marked = 0
  const safeLines = pieces
    .map(({ kind, text: piece }) => {
      const safePiece = escapeHtml(piece).replaceAll('\n', `\n${LINE}`)
      if (kind === 'plain' || ++marked > MAX_MARKED) return safePiece
      return `<span class="js-${kind}">${safePiece}</span>`
    })
    .join('')
  return (
    <pre class="chain lines" tabindex="0">
      {`${LINE}${safeLines}` as 'safe'}
    </pre>
  )
}

/** Maximum length of a displayed address. */
const MAX_ADDRESS = 80

/**
 * An address from the chain, which may be hostile. Only an http(s) address is a link. The link sends no
 * referrer and does not count for search engines. Its text is its real target, so that it cannot mislead.
 */
export function ExternalLink({ url }: { readonly url: string }): Html {
  const address = webAddress(url)
  const shown = cut(address ?? url, MAX_ADDRESS)
  return address === undefined ? (
    <bdi class="chain" safe>
      {shown}
    </bdi>
  ) : (
    <a href={address} rel="nofollow noopener noreferrer ugc">
      <bdi safe>{shown}</bdi>
    </a>
  )
}

/**
 * An http(s) address in normalized form; undefined: the text is not one. An address with name and password is
 * refused, since it could mislead.
 */
function webAddress(url: string): string | undefined {
  const parsed = URL.parse(url.trim())
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined
  return parsed.username === '' && parsed.password === '' ? parsed.href : undefined
}
