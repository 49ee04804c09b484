/** @jsxImportSource @kitajs/html */
import type { Html, Visit } from '../page.ts'
import { Anchor } from './section-title.tsx'

type FoldProps = {
  readonly visit: Pick<Visit, 'say'>
  /** Of its title: where links lead to. */
  readonly id: string
  readonly title: string
  /** Whether it is seen without a press. */
  readonly isOpen?: boolean
  readonly children: Html | readonly Html[]
}

/** A part of a page that is seen after one press. Its link stands outside of what is pressed, which may hold no other control. */
export const Fold = ({ visit, id, title, isOpen = false, children }: FoldProps): Html => (
  <div class="fold">
    <details class="card folded" open={isOpen}>
      <summary>
        <h2 id={id} safe>
          {title}
        </h2>
      </summary>
      {children as 'safe'}
    </details>
    <Anchor visit={visit} id={id} title={title} />
  </div>
)
