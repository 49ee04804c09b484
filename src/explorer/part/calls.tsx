/** @jsxImportSource @kitajs/html */
import type { CallParameters } from '#actions/ask.ts'
import type { Action } from '#actions/define.ts'
import { grouped } from '../format/amount.ts'
import { shortened, visible } from '../format/visible.ts'
import { callTo } from '../links.ts'
import type { Html, Visit } from '../page.ts'

/** An API call with data of a page. */
export type Call = {
  readonly action: Pick<Action, 'module' | 'action' | 'list' | 'title' | 'source'>
  readonly given: CallParameters
}

type CallLinksProps = {
  readonly frame: Pick<Visit, 'site' | 'root' | 'say'>
  readonly calls: readonly Call[]
}

/**
 * Links to the API calls of a page's data, and to whole lists as a table. They are shown only with a test
 * key, since without a key each call would be refused.
 */
export const CallLinks = ({ frame, calls }: CallLinksProps): Html =>
  frame.site.testKey === undefined || calls.length === 0 ? (
    ''
  ) : (
    <details class="calls">
      <summary safe>{frame.say({ en: 'Data of this page', zh: '本页数据' })}</summary>
      {groupsOf(calls).map((group, _at, all) => (
        <span class="call">
          <span safe>{nameOf(group, all, frame)}</span>{' '}
          {group.parts.map(part => (
            <>
              <a href={callTo(frame, group.action, { ...group.given, ...part })} safe>
                {group.parts.length === 1 ? 'JSON' : `JSON ${rowsOf(part)}`}
              </a>{' '}
            </>
          ))}
          {group.action.source !== undefined && (
            <a href={callTo(frame, group.action, { ...group.given, format: 'csv' })}>CSV</a>
          )}
        </span>
      ))}
    </details>
  )

/** Calls of an action that differ at most in the part of the list. */
type Group = Call & {
  /** The parts, without duplicates, as paging parameters. */
  readonly parts: readonly CallParameters[]
}

/** Parameters that select a part of a list. A file has the whole list. */
const PART: ReadonlySet<string> = new Set(['page', 'size', 'after'])

const groupsOf = (calls: readonly Call[]): readonly Group[] => {
  const groups = new Map<string, Group>()
  for (const { action, given } of calls) {
    const isOfPart = ([name]: readonly [string, string]): boolean => PART.has(name)
    const all = Object.entries(given)
    const part = Object.fromEntries(all.filter(isOfPart))
    const whole = Object.fromEntries(all.filter(each => !isOfPart(each)))
    const key = JSON.stringify([action.module, action.action, whole])
    const parts = groups.get(key)?.parts ?? []
    const isNew = parts.every(each => JSON.stringify(each) !== JSON.stringify(part))
    groups.set(key, { action, given: whole, parts: isNew ? [...parts, part] : parts })
  }
  return [...groups.values()]
}

/** The positions of a part's rows in the whole list, such as `26–50`. */
const rowsOf = ({ page = '', size = '' }: CallParameters): string => {
  const last = Number(page) * Number(size)
  return `${grouped(String(last - Number(size) + 1))}–${grouped(String(last))}`
}

/** The title of an action, with the subject of the call if the page calls the action for several. */
const nameOf = ({ action, given }: Group, all: readonly Group[], { say }: Pick<Visit, 'say'>): string => {
  const isOne = all.filter(each => each.action === action).length === 1
  const [of = ''] = Object.values(given)
  return isOne ? say(action.title) : `${say(action.title)} ${shortened(visible(of))}`
}
