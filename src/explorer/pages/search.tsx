/** @jsxImportSource @kitajs/html */
import { MOST_OF_A_KIND } from '#actions/find/matches.ts'
import { search } from '#actions/search.ts'
import { pathOf } from '../links.ts'
import type { Page, Visit } from '../page.ts'
import { Card } from '../part/card.tsx'
import { kindOf, MatchRows } from '../part/match-rows.tsx'
import { ChainText } from '../part/text.tsx'

/** Search results: the page of the one thing that a text names exactly, or a list. */
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
            <ChainText visit={visit} text={text} isProse />
          </h1>
          <Card title={say({ en: 'Results', zh: '搜索结果' })}>
            <MatchRows visit={visit} matches={matches} />
            {matches.length === 0 ? (
              ''
            ) : (
              <p class="none" safe>
                {say({
                  en: `At most ${MOST_OF_A_KIND} of each kind are shown; type more to narrow the results.`,
                  zh: `每类最多显示 ${MOST_OF_A_KIND} 个；输入更长的文本可缩小范围。`,
                })}
              </p>
            )}
          </Card>
        </>
      ),
    }
  },
}
