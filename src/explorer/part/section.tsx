/** @jsxImportSource @kitajs/html */
import type { Children } from '@kitajs/html'
import type { Text } from '#actions/define.ts'
import { toHref } from '../links.ts'
import type { Html, Visit } from '../page.ts'

type SectionProps = {
  readonly visit: Pick<Visit, 'say'>
  /** The id of the title: the target of links, equal in both languages and stable. */
  readonly id: string
  readonly title: Text
}

/** A permanent link to a section. It appears while the title is hovered or the link has the focus. */
export const Anchor = ({ visit, id, title }: SectionProps): Html => (
  <a
    class="anchor"
    href={`#${id}`}
    aria-label={visit.say({ en: `Link to this section: ${title.en}`, zh: `本节链接：${title.zh}` })}
  >
    #
  </a>
)

/**
 * The title of a section, and the link to it. The link is beside the heading and not within it, since its
 * name would become part of the heading's name.
 */
const SectionTitle = ({ visit, id, title }: SectionProps): Html => (
  <>
    <h2 id={id} safe>
      {visit.say(title)}
    </h2>
    <Anchor visit={visit} id={id} title={title} />
  </>
)

type NoteProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly text: Text
  /** `about`: an introduction; absent: a remark, or a text in place of what is missing. */
  readonly kind?: 'none' | 'about' | 'warn'
}

/** A sentence of the page's own. */
export const Note = ({ visit, text, kind = 'none' }: NoteProps): Html => (
  <p class={kind} safe>
    {visit.say(text)}
  </p>
)

type CardProps = SectionProps & {
  /** The content at the other end of the title's line. */
  readonly aside?: Html
  readonly children: Children
}

/** A section of a page with its title. */
export const Card = ({ visit, id, title, aside, children }: CardProps): Html => (
  <section class="card">
    <header>
      <div>
        <SectionTitle visit={visit} id={id} title={title} />
      </div>
      {aside as 'safe'}
    </header>
    {children as 'safe'}
  </section>
)

type FoldProps = SectionProps & {
  /** Whether the section is initially open. */
  readonly isOpen?: boolean
  readonly children: Children
}

/** A collapsible section of a page. Its link is outside the summary, which must not contain another control. */
export const Fold = ({ visit, id, title, isOpen = false, children }: FoldProps): Html => (
  <div class="fold">
    <details class="card folded" open={isOpen}>
      <summary>
        <h2 id={id} safe>
          {visit.say(title)}
        </h2>
      </summary>
      {children as 'safe'}
    </details>
    <Anchor visit={visit} id={id} title={title} />
  </div>
)

/** A fact of a thing: its name in both languages, and its value. */
export type Fact = readonly [en: string, zh: string, value: Html]

type FactsProps = {
  readonly visit: Pick<Visit, 'say'>
  /** `false`: a fact that this thing lacks. */
  readonly facts: readonly (Fact | false)[]
}

/** The facts of a thing, one per line. */
export const Facts = (props: FactsProps): Html => <List kind="facts" {...props} />

/** Prominent figures, side by side. */
export const Figures = (props: FactsProps): Html => <List kind="figures" {...props} />

const List = ({ kind, visit, facts }: FactsProps & { readonly kind: 'facts' | 'figures' }): Html => (
  <dl class={kind}>
    {facts
      .filter(fact => fact !== false)
      .map(([en, zh, value]) => (
        <div>
          <dt safe>{visit.say({ en, zh })}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

type TabsProps = {
  readonly visit: Visit
  /** The common subject of the lists. */
  readonly label: string
  readonly path: string
  /**
   * The lists of a page, in display order. The selected one is the list whose `query` is in the address, else
   * the first.
   */
  readonly tabs: readonly { readonly name: string; readonly query?: string }[]
}

/** Links between the lists of a page, one of which is shown. */
export function Tabs({ visit, label, path, tabs }: TabsProps): Html {
  const selected = tabs.find(({ query }) => query !== undefined && visit.query.has(query)) ?? tabs[0]
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(tab => (
        <a
          href={toHref(visit, tab.query === undefined ? path : `${path}?${tab.query}=1`)}
          aria-current={tab === selected ? 'page' : undefined}
          safe
        >
          {tab.name}
        </a>
      ))}
    </nav>
  )
}
