/** @jsxImportSource @kitajs/html */
import { Exact } from '#chain/json.ts'
import { beginningOf, visible } from '../format/visible.ts'
import { hrefTo } from '../links.ts'
import type { Html, PageContent, Visit } from '../page.ts'
import { Fold } from './fold.tsx'

/** The address of a page's whole text, which pages truncate. */
export const rawHref = (visit: Pick<Visit, 'root' | 'home' | 'lang' | 'path'>): string =>
  hrefTo(visit, `${visit.path}?raw=1`)

/** Whether the address requests the whole text. */
export const isRaw = ({ query }: Pick<Visit, 'query'>): boolean => query.get('raw') === '1'

/** A whole text, which browsers only display: as JSON or as plain text. */
export const rawText = (title: string, text: string, form: 'json' | 'plain'): PageContent => ({
  title,
  body: text,
  type: form === 'json' ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8',
})

type AllOfItProps = { readonly visit: Pick<Visit, 'say'>; readonly href: string }

/** A link to the whole of a truncated text. */
export const AllOfIt = ({ visit, href }: AllOfItProps): Html => (
  <a href={href} rel="nofollow" safe>
    {visit.say({ en: 'Full text →', zh: '查看全文 →' })}
  </a>
)

/** Default maximum of displayed characters. */
const MOST = 8_192

type FoldedProps = {
  readonly visit: Visit
  readonly id: string
  readonly title: string
  readonly text: string
  /** Maximum of displayed characters; absent: the default. */
  readonly most?: number
  /** Renders the displayed text; absent: unformatted. */
  readonly show?: (beginning: string) => Html
}

/** A collapsed long text. */
export const Folded = ({ visit, id, title, text, most = MOST, show = Plain }: FoldedProps): Html => {
  const { text: shown, isWhole } = beginningOf(text, most)
  return (
    <Fold visit={visit} id={id} title={title}>
      {show(`${visible(shown)}${isWhole ? '' : '…'}`) as 'safe'}
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
