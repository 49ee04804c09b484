import { expect, setDefaultTimeout, test } from 'bun:test'
import { explorerOn } from './served.ts'

setDefaultTimeout(600_000)

type Rewards = {
  readonly rewards: readonly {
    readonly date: string
    readonly exchanged: string
    readonly candidate_bonus: string
    readonly added_for_voters: string
    readonly taken_by_voters: string
  }[]
}
type Listed = { readonly producers: readonly { readonly account: string }[] }
type Votes = { readonly days: readonly { readonly date: string; readonly votes: string }[] }

/** Titles of plots in both languages, and the figure of each plot. */
const REWARDS = [
  ['Paid for blocks made (IOST)', '出块所得（IOST）', 'exchanged'],
  ['Own half of candidate bonuses (IOST)', '候选人奖励中归自己的一半（IOST）', 'candidate_bonus'],
  ['Added for voters (IOST)', '为投票者增加（IOST）', 'added_for_voters'],
  ['Withdrawn by voters (IOST)', '投票者已领取（IOST）', 'taken_by_voters'],
] as const

function shownIn(html: string, title: string): readonly string[] {
  const [, points = ''] = html.split(`<h3>${title}</h3>`)[1]?.match(/data-points="([^"]*)"/) ?? []
  return points === '' ? [] : points.replaceAll(',', '').split('|')
}

test('/producer: the votes of each day, and every kind of reward that occurred, are drawn as the API returns them', async () => {
  const explorer = await explorerOn()
  const drawn = new Set<string>()
  const { producers } = await explorer.call<Listed>('base/get-producer-list', { size: '50' })
  for (const { account: producer } of producers) {
    const { days } = await explorer.call<Votes>('producer/get-producer-votes', { producer })
    const { rewards } = await explorer.call<Rewards>('producer/get-reward-history', {
      ...{ producer, step: 'day', sort: 'asc', size: '400' },
    })
    for (const [at, prefix] of ['', '/zh'].entries()) {
      const { html } = await explorer.visit(`${prefix}/producer/${producer}`)
      expect(shownIn(html, at === 0 ? 'Votes (IOST)' : '票数（IOST）')).toEqual(
        days.map(({ date, votes }) => `${date}: ${votes}`),
      )
      for (const [en, zh, figure] of REWARDS) {
        const shown = shownIn(html, at === 0 ? en : zh)
        // A plot begins with the first reward.
        const expected = rewards.map(row => `${row.date}: ${row[figure]}`).slice(-shown.length)
        const isGiven = rewards.some(row => row[figure] !== '0')
        expect([producer, figure, shown]).toEqual([producer, figure, isGiven ? expected : []])
        if (isGiven) drawn.add(figure)
      }
    }
  }
  expect(drawn.size).toBe(REWARDS.length)
})
