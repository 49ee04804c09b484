/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'
import { SectionTitle } from './section-title.tsx'

type CardProps = {
  readonly visit: Pick<Visit, 'say'>
  /** Of its title: where links lead to, in both languages and for as long as the part is there. */
  readonly id: string
  readonly title: string
  /** Stands at the other end of the title's line. */
  readonly aside?: Html
  readonly children: Html | readonly Html[]
}

/** A part of a page under its own title. */
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
