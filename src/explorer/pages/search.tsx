/** @jsxImportSource @kitajs/html */
import { search } from '#actions/search.ts'
import { pathOf } from '../links.ts'
import type { Page, Visit } from '../page.ts'
import { Card } from '../part/card.tsx'
import { kindOf, MatchRows } from '../part/match-rows.tsx'
import { ChainText } from '../part/text.tsx'

/** What a text names: the page of the one thing that it names exactly, or a list. */
export const searchPage: Page = {
  path: '/search',
  show: async (visit: Visit) => {
    const { say, query } = visit
    const text = (query.get('text') ?? '').trim()
    const { matches } = await visit.ask(search, { text })
    const exact = matches.filter(match => match.exact)
    const [only] = exact
    if (only !== undefined && exact.length === 1) return { to: pathOf(kindOf(only.type).kind, only.id) }
    return {
      title: say({ en: `Search: ${text}`, zh: `搜索：${text}` }),
      isMinor: true,
      body: (
        <>
          <h1>
            <small safe>{say({ en: 'Search', zh: '搜索' })}</small>
            <ChainText visit={visit} text={text} />
          </h1>
          <Card title={say({ en: 'Results', zh: '可能的结果' })}>
            <MatchRows visit={visit} matches={matches} />
          </Card>
        </>
      ),
    }
  },
}
