/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'

export type SectionProps = {
  readonly visit: Pick<Visit, 'say'>
  /** The id of the title: the target of links, equal in both languages and stable. */
  readonly id: string
  readonly title: string
}

/** A permanent link to a section. It appears while the title is hovered or the link has the focus. */
export const Anchor = ({ visit, id, title }: SectionProps): Html => (
  <a
    class="anchor"
    href={`#${id}`}
    aria-label={visit.say({ en: `Link to this section: ${title}`, zh: `本节链接：${title}` })}
  >
    #
  </a>
)

/**
 * The title of a section, and the link to it. The link is beside the heading and not within it, since its
 * name would become part of the heading's name.
 */
export const SectionTitle = ({ visit, id, title }: SectionProps): Html => (
  <>
    <h2 id={id} safe>
      {title}
    </h2>
    <Anchor visit={visit} id={id} title={title} />
  </>
)
