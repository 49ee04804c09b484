import { afterAll, beforeAll, expect, test } from 'bun:test'
import { signed } from '#explorer/format/amount.ts'
import { seeded } from '../support/seeded.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { VOTED, votedChain } from '../support/stores/voted-chain.ts'
import { type Explorer, explorerOn } from './served.ts'

let opened: Awaited<ReturnType<typeof temporarySqlite>>
let explorer: Explorer
beforeAll(async () => {
  opened = await temporarySqlite()
  const chain = votedChain(seeded(5), { quiet: 10, busy: 70 })
  await commitRuns(opened.store, [chain], { lib: chain.length })
  explorer = await explorerOn({}, opened.store)
})
afterAll(() => opened.destroy())

type Days = { readonly days: readonly { readonly date: string; readonly change: string }[] }
type Listed = {
  readonly producers: readonly { readonly account: string; readonly votes_change_7d: string }[]
}

/** The HTML of a change, whose colour depends on its sign. */
function written(change: string): string {
  const kind = change.startsWith('-') ? 'bad' : change === '0' ? 'none' : 'good'
  const [whole = '', fraction] = signed(change).split('.')
  const title = signed(change) === change ? '' : ` title="${change}"`
  const begin = `<span class="${kind}"><data value="${change}"${title}>`
  return fraction !== undefined && whole.length >= '+1,000'.length
    ? `${begin}${whole}</span><span class="minor">.${fraction}</span>`
    : `${begin}${signed(change)}<`
}

/** A page without the elements that keep the digits of an aligned number together. */
const readFrom = async (path: string): Promise<string> => (await explorer.visit(path)).html.replaceAll('<span>', '')

test('/producers: every producer has its change of seven days', async () => {
  const { producers } = await explorer.call<Listed>('base/get-producer-list')
  const html = await readFrom('/producers')
  const changes = producers.map(({ votes_change_7d }) => votes_change_7d)
  expect(changes.filter(change => !html.includes(written(change)))).toEqual([])
  // Some of the changes are losses.
  expect([changes.length, changes.some(change => change.startsWith('-'))]).toEqual([3, true])
})

test('/producer: shows the changes of today and of seven days, a bar for each day with a change, and each in the table', async () => {
  const { producers } = await explorer.call<Listed>('base/get-producer-list')
  for (const producer of VOTED) {
    const { days } = await explorer.call<Days>('producer/get-producer-votes', { producer })
    const html = await readFrom(`/producer/${producer}`)
    const week = producers.find(({ account }) => account === producer)?.votes_change_7d ?? ''
    expect(html).toContain(`${written(week)}`)
    const missed = days.filter(({ date, change }) => !html.includes(date) || !html.includes(written(change)))
    expect([producer, missed]).toEqual([producer, []])
    const bars = (kind: string): number =>
      new RegExp(`<path class="${kind}" d="([^"]*)"`).exec(html)?.[1]?.split('M').slice(1).length ?? 0
    const [gains, losses] = [
      days.filter(({ change }) => !change.startsWith('-') && change !== '0'),
      days.filter(({ change }) => change.startsWith('-')),
    ]
    expect([producer, bars('gain'), bars('loss')]).toEqual([producer, gains.length, losses.length])
    expect(Math.min(gains.length, losses.length)).toBeGreaterThan(3)
  }
})

test('/producer: the last day is only called today while it is', async () => {
  const [producer = ''] = VOTED
  const { days } = await explorer.call<Days>('producer/get-producer-votes', { producer })
  const last = days.at(-1)?.date ?? ''
  const late = await explorer.visit(`/producer/${producer}`)
  expect([late.text.includes('today (UTC)'), late.text.includes(`on ${last} (UTC)`)]).toEqual([false, true])
  expect((await explorer.visit(`/zh/producer/${producer}`)).text).not.toContain('今日')
  const now = Date.parse(`${last}T23:59:00Z`)
  const { visit } = await explorerOn({ now: () => now }, opened.store)
  expect((await visit(`/producer/${producer}`)).text).toContain('today (UTC)')
})
