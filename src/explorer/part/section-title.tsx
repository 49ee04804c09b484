/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'

type AnchorProps = {
  readonly visit: Pick<Visit, 'say'>
  /** Of the title that it leads to. */
  readonly id: string
  readonly title: string
}

/** A link to a part of the page, to be copied or kept; it is seen by whoever points at the title or comes there by keyboard. */
export const Anchor = ({ visit, id, title }: AnchorProps): Html => (
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
export const SectionTitle = ({ visit, id, title }: AnchorProps): Html => (
  <>
    <h2 id={id} safe>
      {title}
    </h2>
    <Anchor visit={visit} id={id} title={title} />
  </>
)
