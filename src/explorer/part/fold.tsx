/** @jsxImportSource @kitajs/html */
import type { Children } from '@kitajs/html'
import type { Html } from '../page.ts'
import { Anchor, type SectionProps } from './section-title.tsx'

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
          {title}
        </h2>
      </summary>
      {children as 'safe'}
    </details>
    <Anchor visit={visit} id={id} title={title} />
  </div>
)
