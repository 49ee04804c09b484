import { expect, test } from 'bun:test'
import { formatSigned } from '#explorer/format/amount.ts'
import { oracle } from '../support/nodes/recording.ts'
import { seeded } from '../support/seeded.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { VOTED, votedChain } from '../support/stores/voted-chain.ts'
import { pointsAfter } from './read-page.ts'
import { explorerOn } from './served.ts'

const explorer = await explorerOn()

const WORDS = [
  ['Waiting for approval', '等待批准'],
  undefined,
  ['Asked to leave', '已申请退出'],
  ['Removed by the administrators', '已由管理员移除'],
] as const

/** The words for a row of the contract's table of producers: English, Chinese. */
const wordsOf = (row: ReadonlyMap<string, unknown>): readonly [string, string] =>
  WORDS[Number(row.get('status'))] ??
  (row.get('isProducer') !== true
    ? ['Not a candidate', '非候选人']
    : row.get('online') === true
      ? ['Online', '在线']
      : ['Offline', '离线'])

const badgeIn = (html = ''): string | undefined => /<span class="badge[^"]*">([^<]*)</.exec(html)?.[1]

test("/producer and /producers: say the contract's own status of every producer, and count the approved ones", async () => {
  const { producers } = await oracle()
  const approved = [...producers.values()].filter(row => Number(row.get('status')) === 1).length
  expect(new Set([...producers.values()].map(row => Number(row.get('status'))))).toEqual(new Set([0, 1, 2, 3]))
  for (const [lang, { html: list }] of (await explorer.visitBoth('/producers')).entries()) {
    expect(list).toMatch(new RegExp(`${['Registered', '已注册'][lang]}</dt>\\s*<dd>[^0-9]*${approved}\\b`))
    for (const [account, row] of producers) {
      const word = wordsOf(row as never)[lang]
      const page = await explorer.visit(`${lang === 0 ? '' : '/zh'}/producer/${account}`)
      const line = list.split('<tr').find(each => each.includes(`producer/${account}"`))
      expect([account, badgeIn(page.html), badgeIn(line)]).toEqual([account, word, word])
    }
  }
})

const listProducers = (own: Pick<typeof explorer, 'list'> = explorer) =>
  own.list('base/get-producer-list', { size: '500' })

const REWARDS = [
  ['Paid for blocks made (IOST)', '出块所得（IOST）', 'exchanged'],
  ['Own half of candidate bonuses (IOST)', '候选人奖励中归自己的一半（IOST）', 'candidate_bonus'],
  ['Added for voters (IOST)', '为投票者增加（IOST）', 'added_for_voters'],
  ['Withdrawn by voters (IOST)', '投票者已领取（IOST）', 'taken_by_voters'],
] as const

test('/producer: the votes of each day, and every kind of reward that occurred, are drawn as the API returns them', async () => {
  const drawn = new Set<string>()
  for (const { account: producer } of await listProducers()) {
    const days = await explorer.list('producer/get-producer-votes', { producer })
    const asked = { producer, step: 'day', sort: 'asc', size: '400' }
    const rewards = await explorer.list('producer/get-reward-history', asked)
    for (const [at, { html }] of (await explorer.visitBoth(`/producer/${producer}`)).entries()) {
      const pointsOf = (...titles: readonly [string, string]) => pointsAfter(html, `<h3>${titles[at]}</h3>`)
      expect(pointsOf('Votes (IOST)', '票数（IOST）')).toEqual(days.map(({ date, votes }) => `${date}: ${votes}`))
      for (const [en, zh, figure] of REWARDS) {
        const shown = pointsOf(en, zh)
        // A plot begins with the first reward.
        const expected = rewards.map(row => `${row['date']}: ${row[figure]}`).slice(-shown.length)
        const isGiven = rewards.some(row => row[figure] !== '0')
        expect([producer, figure, shown]).toEqual([producer, figure, isGiven ? expected : []])
        if (isGiven) drawn.add(figure)
      }
    }
  }
  expect(drawn.size).toBe(REWARDS.length)
})

test('/producer: shows with the rewards received what waits to be withdrawn, and the list says where that is', async () => {
  let given = 0
  for (const { account } of await listProducers()) {
    const { iost } = await explorer.call('account/get-account-assets', { account })
    const waiting = iost.producer_reward
    if (waiting === null) continue
    const { html } = await explorer.visit(`/producer/${account}`)
    const [, shown = '0'] = /not yet withdrawn: <\/span><data value="([^"]*)"/.exec(html) ?? []
    expect([account, shown]).toEqual([account, waiting])
    given += Number(waiting !== '0')
  }
  expect(given).toBeGreaterThan(0)
  const [en, zh] = await explorer.visitBoth('/producers')
  expect(en.text).toContain('What waits to be withdrawn is on the page of each producer')
  expect(zh.text).toContain('尚未领取的数额见各生产者的页面')
})

test('/producer: of an unregistered producer shows the time of unregistration and its remaining voters', async () => {
  const { producers, producerVotes, votes } = await oracle()
  const former = [...producerVotes.keys()].filter(name => !producers.has(name))
  expect(former.length).toBeGreaterThan(0)
  for (const name of former) {
    const { html, text } = await explorer.visit(`/producer/${name}`)
    const said = await explorer.call('producer/get-producer-registration', { producer: name })
    expect(text).toContain('Not registered')
    expect(html).toContain(`datetime="${said.unregistered_at}"`)
    expect(html).toContain(`/block/${said.unregistered_block}"`)
    for (const voter of votes.get(name)?.keys() ?? []) {
      expect(html).toContain(`/account/${voter}"`)
      expect((await explorer.visit(`/account/${voter}`)).html).toContain(`/producer/${name}"`)
    }
  }
})

test('/producers: can be sorted by any of their figures, and are sorted by rank otherwise', async () => {
  const producers = await listProducers()
  for (const [by, key] of [
    ['change', 'votes_change_7d'],
    ['voters', 'voter_count'],
    ['blocks', 'block_count'],
    ['rewards', 'received_award'],
    ['unknown', undefined],
  ] as const) {
    const { html } = await explorer.visit(`/producers?by=${by}`)
    const shown = [...html.matchAll(/href="producer\/(\w+)"/g)].map(([, name]) => name)
    // The values of this chain differ enough for comparison as doubles.
    const wanted = key === undefined ? producers : producers.toSorted((a, b) => Number(b[key]) - Number(a[key]))
    expect([by, shown]).toEqual([by, wanted.map(({ account }) => account)])
  }
})

function formatChange(change: string): string {
  const kind = change.startsWith('-') ? 'bad' : change === '0' ? 'none' : 'good'
  const [whole = '', fraction] = formatSigned(change).split('.')
  const title = formatSigned(change) === change ? '' : ` title="${change}"`
  const begin = `<span class="${kind}"><data value="${change}"${title}>`
  return fraction !== undefined && whole.length >= '+1,000'.length
    ? `${begin}${whole}</span><span class="minor">.${fraction}</span>`
    : `${begin}${formatSigned(change)}<`
}

test('a chain with many votes: lists and pages of producers have their changes, a bar for each day, and today', async () => {
  const { store, destroy } = await temporarySqlite()
  const chain = votedChain(seeded(5), { quiet: 10, busy: 70 })
  await commitRuns(store, [chain], { lib: chain.length })
  const voted = await explorerOn({}, store)
  // Without the elements that keep the digits of an aligned number together.
  const read = async (path: string): Promise<string> => (await voted.visit(path)).html.replaceAll('<span>', '')
  const producers = await listProducers(voted)
  const weeks = new Map(producers.map(({ account, votes_change_7d }) => [account, formatChange(votes_change_7d)]))
  const list = await read('/producers')
  expect([...weeks.values()].filter(change => !list.includes(change))).toEqual([])
  expect(producers.some(({ votes_change_7d }) => votes_change_7d.startsWith('-'))).toBe(true)
  for (const producer of VOTED) {
    const days = await voted.list('producer/get-producer-votes', { producer })
    const html = await read(`/producer/${producer}`)
    expect(html).toContain(weeks.get(producer) ?? '')
    const missed = days.filter(({ date, change }) => !html.includes(date) || !html.includes(formatChange(change)))
    expect([producer, missed]).toEqual([producer, []])
    const countBars = (kind: string): number =>
      new RegExp(`<path class="${kind}" d="([^"]*)"`).exec(html)?.[1]?.split('M').slice(1).length ?? 0
    const losses = days.filter(({ change }) => change.startsWith('-')).length
    const gains = days.filter(({ change }) => change !== '0').length - losses
    expect([producer, countBars('gain'), countBars('loss')]).toEqual([producer, gains, losses])
    expect(Math.min(gains, losses)).toBeGreaterThan(3)
    // The last day is only called today while it is.
    const last = days.at(-1)?.['date']
    const [late, zh] = await voted.visitBoth(`/producer/${producer}`)
    expect(late.text).toContain(`on ${last} (UTC)`)
    expect(late.text + zh.text).not.toMatch(/today \(UTC\)|今日/)
    const { visit } = await explorerOn({ now: () => Date.parse(`${last}T23:59:00Z`) }, store)
    expect((await visit(`/producer/${producer}`)).text).toContain('today (UTC)')
  }
  await destroy()
})

/** Titles of the plots of a token in each language, in the order of their figures. */
const TITLES = [
  (token: string) => [`Supply (${token})`, 'Holders', `Volume of transfers (${token})`, 'Transfers'],
  (token: string) => [`供应量（${token}）`, '持有者数', `转账总额（${token}）`, '转账次数'],
]

test('/token: supply and holders since creation, and volume and transfers of each day, are drawn as the API returns them', async () => {
  for (const token of ['iost', 'ram', 'contribute'])
    for (const [lang, { html }] of (await explorer.visitBoth(`/token/${token}`)).entries()) {
      const shown = TITLES[lang]?.(token).map(title => pointsAfter(html, `<h3>${title}</h3>`))
      const [[first = ''] = []] = shown ?? []
      const asked = { token, step: 'month', start_date: `${first.slice(0, 7)}-01` }
      const steps = await explorer.list('token/get-supply-history', asked)
      const days = await explorer.list('base/get-daily-statistics', { token })
      // Contribute is never transferred.
      const drawn = token === 'contribute' ? [] : days
      const ofMonths = ['supply', 'holders'].map(name => steps.map(row => `${row['date'].slice(0, 7)}: ${row[name]}`))
      const ofDays = ['volume', 'transfers'].map(name => drawn.map(row => `${row['date']}: ${row[name]}`))
      expect(shown).toEqual([...ofMonths, ...ofDays])
      expect(steps.length).toBeGreaterThan(12)
    }
  for (const path of ['/token/iost?holders=1', '/token/zero0'])
    expect([path, (await explorer.visit(path)).html.includes('<figure class="plot')]).toEqual([path, false])
})

test('/token: says who may transfer it', async () => {
  const seen = new Set<string>()
  for (const [symbol, stored] of (await oracle()).tokens) {
    const allowed = stored.get('onlyIssuerCanTransfer') === 'true' ? "Only with the issuer's permission" : 'Allowed'
    const told = stored.get('canTransfer') === 'true' ? allowed : 'Not allowed'
    const { text } = await explorer.visit(`/token/${symbol}`)
    expect([symbol, text]).toEqual([symbol, expect.stringMatching(new RegExp(`Transfers\\s*${told}`))])
    seen.add(told)
  }
  expect(seen.size).toBeGreaterThan(1)
})
