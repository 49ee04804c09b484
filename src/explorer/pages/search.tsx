/** @jsxImportSource @kitajs/html */

import type { Text } from '#actions/define.ts'
import { MAX_OF_KIND } from '#actions/search.ts'
import { askFacts, findMatches } from '../find/search.ts'
import { getMatchKind } from '../format/state.ts'
import { revealInvisible } from '../format/text.ts'
import { formatPagePath, toHref } from '../links.ts'
import type { Page, Visit } from '../page.ts'
import { FactText, LastBlock, MatchRows, SEARCHED_FORMS } from '../part/match.tsx'
import { Label } from '../part/name.tsx'
import { Card, Note } from '../part/section.tsx'
import { ChainText } from '../part/text.tsx'

const MANY: Text = {
  en: `At most ${MAX_OF_KIND} of each kind are shown; type more to narrow the results.`,
  zh: `每类最多显示 ${MAX_OF_KIND} 个；输入更长的文本可缩小范围。`,
}
/** Search results: a redirect to the only exact match of a text, or a list. */
export const searchPage: Page = {
  path: '/search',
  show: async (visit: Visit) => {
    const { say, query } = visit
    const text = (query.get('text') ?? '').trim()
    const matches = await findMatches(visit, text)
    const exact = matches.filter(match => match.exact)
    const [only] = exact
    if (only !== undefined && exact.length === 1) return { to: formatPagePath(getMatchKind(only.type).kind, only.id) }
    const facts = await askFacts(visit, matches)
    const search = say({ en: 'Search', zh: '搜索' })
    return {
      title: text === '' ? search : say({ en: `Search: ${text}`, zh: `搜索：${text}` }),
      isMinor: true,
      body: (
        <>
          <h1>
            <small safe>{search}</small>
            <ChainText visit={visit} text={text} isProse />
          </h1>
          <Card visit={visit} id="results" title={{ en: 'Results', zh: '搜索结果' }}>
            {text === '' ? '' : <MatchRows visit={visit} matches={matches} facts={facts} />}
            {text !== '' && matches.length === 0 && <LastBlock visit={visit} height={visit.at.height} />}
            <Note visit={visit} text={matches.length === 0 ? SEARCHED_FORMS : MANY} />
          </Card>
        </>
      ),
    }
  },
}

const MAX_SUGGESTIONS = 8

/** Suggestions for a text during typing, as lines for the search box. */
export const suggestPage: Page = {
  path: '/suggest',
  show: async visit => {
    const text = (visit.query.get('text') ?? '').trim()
    const matches = (await findMatches(visit, text)).slice(0, MAX_SUGGESTIONS)
    const facts = await askFacts(visit, matches)
    return {
      title: '',
      type: 'text/html; charset=utf-8',
      body: (
        <ul>
          {matches.map((match, at) => (
            <li data-to={toHref(visit, formatPagePath(getMatchKind(match.type).kind, match.id))}>
              <span>
                <bdi safe>{revealInvisible(match.id)}</bdi>
                <Label visit={visit} id={match.id} />
              </span>{' '}
              <small>
                <span safe>{visit.say(getMatchKind(match.type))}</span>
                <FactText visit={visit} fact={facts[at]} before=" · " />
              </small>
            </li>
          ))}
        </ul>
      ),
    }
  },
}
