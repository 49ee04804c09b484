/** @jsxImportSource @kitajs/html */
import type { Html } from '../page.ts'

type CardProps = {
  readonly title: string
  /** What stands at the other end of the title's line. */
  readonly aside?: Html
  readonly children: Html | readonly Html[]
}

/** A part of a page under its own title. */
export const Card = ({ title, aside, children }: CardProps): Html => (
  <section class="card">
    <header>
      <h2 safe>{title}</h2>
      {aside as 'safe'}
    </header>
    {children as 'safe'}
  </section>
)
