/** @jsxImportSource @kitajs/html */
import type { Children } from '@kitajs/html'
import type { Html } from '../page.ts'
import { type SectionProps, SectionTitle } from './section-title.tsx'

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
