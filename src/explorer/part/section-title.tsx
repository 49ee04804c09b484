/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'

export type SectionProps = {
  readonly visit: Pick<Visit, 'say'>
  /** Of its title: where links lead to, in both languages and for as long as the part is there. */
  readonly id: string
  readonly title: string
}

/** A link to a part of the page, to be copied or kept. It appears when the title is pointed at, and when the link has the focus. */
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
 * The title of a part of a page, and the link to it. The link stands beside the heading and not within it, since its name
 * would become part of the heading's.
 */
export const SectionTitle = ({ visit, id, title }: SectionProps): Html => (
  <>
    <h2 id={id} safe>
      {title}
    </h2>
    <Anchor visit={visit} id={id} title={title} />
  </>
)
