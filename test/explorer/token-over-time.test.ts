import { expect, setDefaultTimeout, test } from 'bun:test'
import { sum } from '#chain/amount.ts'
import { explorerOn } from './served.ts'

setDefaultTimeout(600_000)

type Supply = {
  readonly steps: readonly { readonly date: string; readonly supply: string; readonly holders: number }[]
}
type Daily = {
  readonly days: readonly { readonly date: string; readonly volume: string; readonly transfers: number }[]
}

/** Titles of the plots in each language, in the order of their figures. */
const TITLES = {
  '': (token: string) => [`Supply (${token})`, 'Holders', `Volume of transfers (${token})`, 'Transfers'],
  '/zh': (token: string) => [`供应量（${token}）`, '持有者数', `转账总额（${token}）`, '转账次数'],
} as const

function shownIn(html: string, title: string): readonly string[] {
  const [, points = ''] = html.split(`<h3>${title}</h3>`)[1]?.match(/data-points="([^"]*)"/) ?? []
  return points === '' ? [] : points.replaceAll(',', '').split('|')
}

test('/token: supply and holders since creation, and volume and transfers of each day, are drawn as the API returns them', async () => {
  const explorer = await explorerOn()
  for (const token of ['iost', 'ram', 'contribute'])
    for (const lang of ['', '/zh'] as const) {
      const { html } = await explorer.visit(`${lang}/token/${token}`)
      const [supply = '', holders = '', volume = '', transfers = ''] = TITLES[lang](token)
      const shown = shownIn(html, supply)
      expect(shown.length).toBeGreaterThan(12)
      const asked = { token, step: 'month', start_date: `${shown[0]?.slice(0, 7)}-01` }
      const { steps } = await explorer.call<Supply>('token/get-supply-history', asked)
      expect(shown).toEqual(steps.map(row => `${row.date.slice(0, 7)}: ${row.supply}`))
      expect(shownIn(html, holders)).toEqual(steps.map(row => `${row.date.slice(0, 7)}: ${row.holders}`))
      const { days } = await explorer.call<Daily>('base/get-daily-statistics', { token })
      // Contribute is never transferred.
      const drawn = token === 'contribute' ? [] : days
      expect(shownIn(html, volume)).toEqual(drawn.map(day => `${day.date}: ${day.volume}`))
      expect(shownIn(html, transfers)).toEqual(drawn.map(day => `${day.date}: ${day.transfers}`))
    }
  for (const path of ['/token/iost?holders=1', '/token/zero0'])
    expect([path, (await explorer.visit(path)).html.includes('<figure class="plot')]).toEqual([path, false])
})

type IostDay = Readonly<Record<'volume' | 'issued' | 'destroyed', string>>

test('/statistics: the IOST moved in a day are those transferred, issued and destroyed, as the titles say', async () => {
  const { call, visit } = await explorerOn()
  const [{ days: all }, { days: own }] = await Promise.all([
    call<{ readonly days: readonly { readonly iost_moved: string }[] }>('base/get-daily-statistics'),
    call<{ readonly days: readonly IostDay[] }>('base/get-daily-statistics', { token: 'iost' }),
  ])
  const parts = own.map(({ volume, issued, destroyed }) => sum(volume, sum(issued, destroyed)))
  expect(all.map(day => day.iost_moved)).toEqual(parts)
  expect(own.some(({ issued }) => issued !== '0')).toBe(true)
  for (const path of ['/statistics', '/statistics/iost_moved'])
    expect((await visit(path)).text).toContain('IOST moved, with issued and destroyed')
  expect((await visit('/zh/statistics')).text).toContain('IOST 变动总额（含增发与销毁）')
})
