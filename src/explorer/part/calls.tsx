/** @jsxImportSource @kitajs/html */
import type { Given } from '#actions/ask.ts'
import type { Action } from '#actions/define.ts'
import { callTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'

/** A call of the API that a page is made of. */
export type Call = {
  readonly action: Pick<Action, 'module' | 'action' | 'list' | 'title' | 'source'>
  readonly given: Given
}

type CallLinksProps = {
  readonly frame: Pick<Visit, 'site' | 'root' | 'say'>
  readonly calls: readonly Call[]
}

/** The calls that give the figures of a page, and whole lists for a table. */
export const CallLinks = ({ frame, calls }: CallLinksProps): Html =>
  calls.length === 0 ? (
    ''
  ) : (
    <p class="calls">
      <span safe>{frame.say({ en: 'This page as data: ', zh: '本页数据：' })}</span>
      {differing(calls).map(({ action, given }) => {
        const { page: _, size: __, ...whole } = given
        return (
          <span class="call">
            <span safe>{frame.say(action.title)}</span>{' '}
            <a href={callTo(frame, action, given)} rel="nofollow">
              JSON
            </a>
            {action.source === undefined ? (
              ''
            ) : (
              <>
                {' '}
                <a href={callTo(frame, action, { ...whole, format: 'csv' })} rel="nofollow">
                  CSV
                </a>
              </>
            )}
          </span>
        )
      })}
    </p>
  )

/** Calls that differ in more than the part of a list that they ask for; the last of each, which is what the page shows. */
const differing = (calls: readonly Call[]): readonly Call[] => {
  const kept = new Map<string, Call>()
  for (const call of calls) {
    const { page: _, size: __, ...whole } = call.given
    kept.set(JSON.stringify([call.action.module, call.action.action, whole]), call)
  }
  return [...kept.values()]
}
