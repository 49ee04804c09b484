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

/**
 * A time until which something lasts, with how far it is away. The chain's own time is that of the page's block: what
 * is past for the visitor and to come for that block has not happened on this page.
 */
export const Until = ({ visit, iso }: TimeProps): Html =>
  Date.parse(iso) > Number(visit.at.time / 1_000_000n) && Date.parse(iso) <= visit.now ? (
    <span class="when">
      <At iso={iso} />{' '}
      <small safe>
        {visit.say({ en: '(past, but after the last loaded block)', zh: '（已过，但晚于最新已加载的区块）' })}
      </small>
    </span>
  ) : (
    <When visit={visit} iso={iso} />
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
