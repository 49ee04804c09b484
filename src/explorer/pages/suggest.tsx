/** @jsxImportSource @kitajs/html */
import { factsOf } from '../find/facts.ts'
import { matchesMeant } from '../find/meant.ts'
import { visible } from '../format/visible.ts'
import { hrefTo, pathOf } from '../links.ts'
import type { Page } from '../page.ts'
import { FactText } from '../part/fact-text.tsx'
import { kindOf } from '../part/match-rows.tsx'
import { Label } from '../part/name.tsx'

/** Maximum number of suggestions below the search box. */
const MOST = 8

/** Suggestions for a text during typing, as lines for the search box. */
export const suggestPage: Page = {
  path: '/suggest',
  show: async visit => {
    const text = (visit.query.get('text') ?? '').trim()
    const matches = (await matchesMeant(visit, text)).slice(0, MOST)
    const facts = await factsOf(visit, matches)
    return {
      title: '',
      type: 'text/html; charset=utf-8',
      body: (
        <ul>
          {matches.map((match, at) => (
            <li data-to={hrefTo(visit, pathOf(kindOf(match.type).kind, match.id))}>
              <span>
                <bdi safe>{visible(match.id)}</bdi>
                <Label visit={visit} id={match.id} />
              </span>{' '}
              <small>
                <span safe>{visit.say(kindOf(match.type))}</span>
                <FactText visit={visit} fact={facts[at]} before=" · " />
              </small>
            </li>
          ))}
        </ul>
      ),
    }
  },
}
