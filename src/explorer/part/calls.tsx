/** @jsxImportSource @kitajs/html */
import type { Given } from '#actions/ask.ts'
import type { Action } from '#actions/define.ts'
import { shortened, visible } from '../format/visible.ts'
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
      {differing(calls).map((call, _at, all) => {
        const { action, given } = call
        const { page: _, size: __, ...whole } = given
        return (
          <span class="call">
            <span safe>{nameOf(call, all, frame)}</span>{' '}
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

/** What a call gives; where several give the same of different things, of what. */
const nameOf = ({ action, given }: Call, all: readonly Call[], { say }: Pick<Visit, 'say'>): string => {
  const isOne = all.filter(each => each.action === action).length === 1
  const [of = ''] = Object.values(given)
  return isOne ? say(action.title) : `${say(action.title)} ${shortened(visible(of))}`
}

/** Calls that differ in more than the part of a list that they ask for; the last of each, which is what the page shows. */
const differing = (calls: readonly Call[]): readonly Call[] => {
  const kept = new Map<string, Call>()
  for (const call of calls) {
    const { page: _, size: __, ...whole } = call.given
    kept.set(JSON.stringify([call.action.module, call.action.action, whole]), call)
  }
  return [...kept.values()]
}
