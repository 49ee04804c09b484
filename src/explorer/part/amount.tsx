/** @jsxImportSource @kitajs/html */
import { grouped, signed } from '../format/amount.ts'
import { visible } from '../format/visible.ts'
import { hrefTo, pathOf } from '../links.ts'
import type { Html, Visit } from '../page.ts'

/** A number with thousands apart; the exact digits are in its title, where they differ, and are what is copied. */
export const Count = ({ value }: { readonly value: string | number }): Html => (
  <Digits text={String(value)} shown={grouped(String(value))} />
)

/** By how much something grew or shrank: its sign says which, and so does its colour. */
export const Change = ({ value }: { readonly value: string }): Html => {
  const shown = signed(value)
  return (
    <span class={shown.startsWith('+') ? 'good' : shown.startsWith('−') ? 'bad' : 'none'}>
      <Digits text={value} shown={shown} />
    </span>
  )
}

/** A number as it is shown; what stands behind the point is less prominent. */
const Digits = ({ text, shown: given }: { readonly text: string; readonly shown: string }): Html => {
  const shown = visible(given)
  const whole = visible(text)
  const title = whole === shown ? undefined : whole
  const at = shown.indexOf('.')
  return at < 0 ? (
    <data value={text} title={title} class="number" safe>
      {shown}
    </data>
  ) : (
    <data value={text} title={title} class="number">
      <span safe>{shown.slice(0, at)}</span>
      <span class="fraction" safe>
        {shown.slice(at)}
      </span>
    </data>
  )
}

/** A number that is counted here, such as a place in a list: the chain has none that is more exact. */
export const Place = ({ value }: { readonly value: string | number }): Html => (
  <span class="number" safe>
    {grouped(String(value))}
  </span>
)

/** An amount with the sign of its token. */
export const Amount = ({
  visit,
  value,
  token,
}: {
  readonly visit: Visit
  readonly value: string
  readonly token: string
}): Html => (
  <span class="amount">
    <Count value={value} />{' '}
    <a class="sign" href={hrefTo(visit, pathOf('token', token))}>
      <bdi safe>{visible(token)}</bdi>
    </a>
  </span>
)
