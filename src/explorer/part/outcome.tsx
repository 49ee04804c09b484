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

/** The outcome in a narrow table: a dot for a success, and one word for any failure. */
export const ShortOutcome = ({ visit: { say }, code }: OutcomeProps): Html =>
  code === 'SUCCESS' ? (
    <span class="badge good">
      <span class="sr" safe>
        {say(outcomeOf(code))}
      </span>
    </span>
  ) : (
    <span class="badge bad" title={say(outcomeOf(code))} safe>
      {say({ en: 'Failed', zh: '失败' })}
    </span>
  )

/** The outcome of a failed transaction; empty for a success. */
export const Failed = ({ visit, code }: OutcomeProps): Html =>
  code === 'SUCCESS' ? '' : <Outcome visit={visit} code={code} />
