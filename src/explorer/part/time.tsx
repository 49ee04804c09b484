/** @jsxImportSource @kitajs/html */
import { absolute, isOld, relative } from '../format/time.ts'
import type { Html, Visit } from '../page.ts'

type TimeProps = { readonly visit: Visit; readonly iso: string }

/** A time in a list: its age, with the time in the title, or only the time if it was long ago. */
export const Ago = ({ visit, iso }: TimeProps): Html =>
  isOld(iso, visit.now) ? (
    <time class="ago day" datetime={iso} safe>
      {absolute(iso)}
    </time>
  ) : (
    <time class="ago" datetime={iso} title={`${absolute(iso)} UTC`} safe>
      {relative(iso, visit.now, visit.lang)}
    </time>
  )

/** A time without its age. */
export const At = ({ iso }: Pick<TimeProps, 'iso'>): Html => (
  <time class="at" datetime={iso} safe>
    {`${absolute(iso)} UTC`}
  </time>
)

/** A time with its age. */
export const When = ({ visit, iso }: TimeProps): Html => (
  <span class="when">
    <At iso={iso} />{' '}
    <small>
      (
      <time class="ago" datetime={iso} safe>
        {relative(iso, visit.now, visit.lang)}
      </time>
      )
    </small>
  </span>
)
