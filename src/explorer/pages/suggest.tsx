/** @jsxImportSource @kitajs/html */
import { search } from '#actions/search.ts'
import { visible } from '../format/visible.ts'
import { hrefTo, pathOf } from '../links.ts'
import type { Page } from '../page.ts'
import { kindOf } from '../part/match-rows.tsx'

/** Lines below the search box. */
const MOST = 8

/** Suggestions for a text that is being typed, as lines for the search box of any page. */
export const suggestPage: Page = {
  path: '/suggest',
  show: async visit => {
    const text = (visit.query.get('text') ?? '').trim()
    const { matches } = await visit.ask(search, { text })
    return {
      title: '',
      type: 'text/html; charset=utf-8',
      body: (
        <ul>
          {matches.slice(0, MOST).map(({ type, id }) => (
            <li data-to={hrefTo(visit, pathOf(kindOf(type).kind, id))}>
              <bdi safe>{visible(id)}</bdi> <small safe>{visit.say(kindOf(type))}</small>
            </li>
          ))}
        </ul>
      ),
    }
  },
}
