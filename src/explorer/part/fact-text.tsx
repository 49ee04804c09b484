/** @jsxImportSource @kitajs/html */
import type { Fact } from '../find/facts.ts'
import { absolute } from '../format/time.ts'
import type { Html, Visit } from '../page.ts'
import { Count } from './amount.tsx'

type FactTextProps = {
  readonly visit: Pick<Visit, 'say'>
  readonly fact: Fact | undefined
  /** The text before a known fact. */
  readonly before?: string
}

/** A fact as a short text: `1,217.6 iost`, `13 holders`, `2026-11-21 09:30:15`. */
export const FactText = ({ visit: { say }, fact, before = '' }: FactTextProps): Html => {
  if (fact === undefined) return ''
  if ('iso' in fact)
    return (
      <>
        <span safe>{before}</span>
        <time datetime={fact.iso} safe>
          {`${absolute(fact.iso)} UTC`}
        </time>
        {fact.isFailed === true && <span safe>{say({ en: ' · failed', zh: ' · 失败' })}</span>}
      </>
    )
  return (
    <>
      <span safe>{before}</span>
      <Count value={fact.amount} /> <span safe>{say(fact.of)}</span>
    </>
  )
}
