/** @jsxImportSource @kitajs/html */
import { formatGrouped, formatSigned, isLong, splitNumber } from '../format/amount.ts'
import { revealInvisible } from '../format/text.ts'
import { formatAge, formatTime, isOld } from '../format/time.ts'
import { formatPagePath, toHref } from '../links.ts'
import type { Html, Props, Visit } from '../page.ts'

/** The mark for a missing value. */
export const None = (): Html => <span class="none">—</span>

type CountProps = {
  readonly value: string | number
  /** Decimals of the number's column, so that decimal points are aligned where the width allows it. */
  readonly decimals?: number
}

/** A number with thousands separators. The exact digits are in the title, where they differ, and are copied. */
export const Count = ({ value, decimals }: CountProps): Html => (
  <Digits text={String(value)} shown={formatGrouped(String(value))} decimals={decimals} />
)

/** A change. Sign and colour distinguish a gain from a loss. */
export function Change({ value, decimals }: { readonly value: string; readonly decimals?: number }): Html {
  const shown = formatSigned(value)
  return (
    <span class={shown.startsWith('+') ? 'good' : shown.startsWith('−') ? 'bad' : 'none'}>
      <Digits text={value} shown={shown} decimals={decimals} />
    </span>
  )
}

type DigitsProps = {
  readonly text: string
  readonly shown: string
  readonly decimals: number | undefined
}

/** A formatted number. The decimals of a large one are less prominent. */
function Digits({ text, shown, decimals }: DigitsProps): Html {
  const { whole, fraction } = splitNumber(shown)
  const exact = revealInvisible(text)
  const title = exact === revealInvisible(shown) ? undefined : exact
  const pad = decimals === undefined ? '' : '.'.padEnd(decimals + 1, '0').slice(fraction.length)
  const isMinor = fraction !== '' && isLong(whole)
  if (!isMinor && pad.length < '.0'.length)
    return (
      <data value={text} title={title} safe>
        {revealInvisible(shown)}
      </data>
    )
  return (
    <data value={text} title={title}>
      <span safe>{revealInvisible(isMinor ? whole : shown)}</span>
      {isMinor && (
        <span class="minor" safe>
          {revealInvisible(fraction)}
        </span>
      )}
      {pad !== '' && <span class="pad" data-pad={pad}></span>}
    </data>
  )
}

/** A number made by this service, such as a rank: it has no more exact value on the chain. */
export const Place = ({ value }: { readonly value: string | number }): Html => (
  <span class="number" safe>
    {formatGrouped(String(value))}
  </span>
)

type AmountProps = CountProps & Props<{ token: string }>

/** Length from which an amount may be on another line than its token. */
const LONGEST = 16

/** An amount with a link to its token. */
export const Amount = ({ visit, token, ...count }: AmountProps): Html => (
  <span class={formatGrouped(String(count.value)).length > LONGEST ? 'amount long' : 'amount'}>
    <Count {...count} />{' '}
    <a class="sign" href={toHref(visit, formatPagePath('token', token))}>
      <bdi safe>{revealInvisible(token)}</bdi>
    </a>
  </span>
)

type TimeProps = Props<{ iso: string }>

/** A time in a list: its age, with the time in the title, or only the time if it was long ago. */
export const Ago = ({ visit, iso }: TimeProps): Html =>
  isOld(iso, visit.now) ? (
    <time class="ago day" datetime={iso} safe>
      {formatTime(iso)}
    </time>
  ) : (
    <time class="ago" datetime={iso} title={`${formatTime(iso)} UTC`} safe>
      {formatAge(iso, visit.now, visit.lang)}
    </time>
  )

/** A time without its age. */
export const At = ({ iso }: Pick<TimeProps, 'iso'>): Html => (
  <time class="at" datetime={iso} safe>
    {`${formatTime(iso)} UTC`}
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

export const When = ({ visit, iso }: TimeProps): Html => (
  <span class="when">
    <At iso={iso} />{' '}
    <small>
      (
      <time class="ago" datetime={iso} safe>
        {formatAge(iso, visit.now, visit.lang)}
      </time>
      )
    </small>
  </span>
)

type DayProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly day: { readonly date: string; readonly complete: boolean }
}

/** A UTC day, with a mark if it has not ended. */
export const Day = ({ visit: { say }, day: { date, complete } }: DayProps): Html => (
  <>
    <span class="date" safe>
      {date}
    </span>
    {!complete && (
      <>
        {' '}
        <small safe>{say({ en: 'so far', zh: '截至目前' })}</small>
      </>
    )}
  </>
)
