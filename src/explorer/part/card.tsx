/** @jsxImportSource @kitajs/html */
import type { Html } from '../page.ts'

type CardProps = {
  readonly title: string
  /** Stands at the other end of the title's line. */
  readonly aside?: Html
  /** Where a link within the page leads to. */
  readonly id?: string
  readonly children: Html | readonly Html[]
}

/** A part of a page under its own title. */
export const Card = ({ title, aside, id, children }: CardProps): Html => (
  <section class="card" id={id}>
    <header>
      <h2 safe>{title}</h2>
      {aside as 'safe'}
    </header>
    {children as 'safe'}
  </section>
)
