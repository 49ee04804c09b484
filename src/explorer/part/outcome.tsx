/** @jsxImportSource @kitajs/html */
import { outcomeOf } from '../format/outcome.ts'
import { visible } from '../format/visible.ts'
import type { Html, Visit } from '../page.ts'

type OutcomeProps = { readonly visit: Pick<Visit, 'say'>; readonly code: string }

/** Whether a transaction succeeded, in words. */
export const Outcome = ({ visit, code }: OutcomeProps): Html => (
  <span class={code === 'SUCCESS' ? 'badge good' : 'badge bad'} title={visible(code)} safe>
    {visible(visit.say(outcomeOf(code)))}
  </span>
)

/** The outcome of a failed transaction; empty for a success. */
export const Failed = ({ visit, code }: OutcomeProps): Html =>
  code === 'SUCCESS' ? '' : <Outcome visit={visit} code={code} />
