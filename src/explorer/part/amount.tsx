/** @jsxImportSource @kitajs/html */
import { grouped, isLong, partsOf, signed } from '../format/amount.ts'
import { visible } from '../format/visible.ts'
import { hrefTo, pathOf } from '../links.ts'
import type { Html, Visit } from '../page.ts'

type CountProps = {
  readonly value: string | number
  /** Decimals of the number's column, so that decimal points are aligned where the width allows it. */
  readonly decimals?: number
}

/** A number with thousands separators. The exact digits are in the title, where they differ, and are copied. */
export const Count = ({ value, decimals }: CountProps): Html => (
  <Digits text={String(value)} shown={grouped(String(value))} decimals={decimals} />
)

/** A change. Sign and colour distinguish a gain from a loss. */
export const Change = ({ value, decimals }: { readonly value: string; readonly decimals?: number }): Html => {
  const shown = signed(value)
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
const Digits = ({ text, shown, decimals }: DigitsProps): Html => {
  const { whole, fraction } = partsOf(shown)
  const exact = visible(text)
  const title = exact === visible(shown) ? undefined : exact
  const pad = decimals === undefined ? '' : '.'.padEnd(decimals + 1, '0').slice(fraction.length)
  const isMinor = fraction !== '' && isLong(whole)
  if (!isMinor && pad.length < '.0'.length)
    return (
      <data value={text} title={title} safe>
        {visible(shown)}
      </data>
    )
  return (
    <data value={text} title={title}>
      <span safe>{visible(isMinor ? whole : shown)}</span>
      {isMinor && (
        <span class="minor" safe>
          {visible(fraction)}
        </span>
      )}
      {pad !== '' && <span class="pad" data-pad={pad}></span>}
    </data>
  )
}

/** A number made by this service, such as a rank: it has no more exact value on the chain. */
export const Place = ({ value }: { readonly value: string | number }): Html => (
  <span class="number" safe>
    {grouped(String(value))}
  </span>
)

type AmountProps = CountProps & { readonly visit: Visit; readonly token: string }

/** Length from which an amount may be on another line than its token. */
const LONGEST = 16

/** An amount with a link to its token. */
export const Amount = ({ visit, token, ...count }: AmountProps): Html => (
  <span class={grouped(String(count.value)).length > LONGEST ? 'amount long' : 'amount'}>
    <Count {...count} />{' '}
    <a class="sign" href={hrefTo(visit, pathOf('token', token))}>
      <bdi safe>{visible(token)}</bdi>
    </a>
  </span>
)
