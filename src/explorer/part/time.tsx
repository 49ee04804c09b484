/** @jsxImportSource @kitajs/html */
import { absolute, relative } from '../format/time.ts'
import type { Html, Visit } from '../page.ts'

/** How long ago, as lists show it; the time itself is in the title. */
export const Ago = ({ visit, iso }: { readonly visit: Visit; readonly iso: string }): Html => (
  <time class="ago" datetime={iso} title={`${absolute(iso)} UTC`} safe>
    {relative(iso, visit.now, visit.lang)}
  </time>
)

/** A time and how long ago it was. */
export const When = ({ visit, iso }: { readonly visit: Visit; readonly iso: string }): Html => (
  <span class="when">
    <time class="at" datetime={iso} safe>
      {`${absolute(iso)} UTC`}
    </time>{' '}
    <small>
      (
      <time class="ago" datetime={iso} safe>
        {relative(iso, visit.now, visit.lang)}
      </time>
      )
    </small>
  </span>
)
