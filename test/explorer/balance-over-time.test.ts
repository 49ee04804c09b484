import { expect, setDefaultTimeout, test } from 'bun:test'
import { sum } from '#chain/amount.ts'
import { explorerOn } from './served.ts'

setDefaultTimeout(600_000)

type Steps = { readonly changes: readonly { readonly date: string; readonly closing: string }[] }
type Changes = {
  readonly changes: readonly { readonly created_at: string; readonly balance: string; readonly frozen: string }[]
}

test('/account: an old balance is drawn by months, and a balance of less than two days by changes', async () => {
  const explorer = await explorerOn()
  const pointsOf = async (account: string): Promise<readonly string[]> => {
    const { html } = await explorer.visit(`/account/${account}`)
    const [, points = ''] = /<h2 id="balance-over-time">Balance over time.*?data-points="([^"]*)"/s.exec(html) ?? []
    return points.replaceAll(',', '').split('|')
  }
  const shown = await pointsOf('admin')
  const months = { step: 'month', start_date: `${shown[0]?.slice(0, 7)}-01`, size: '400', sort: 'asc' }
  const old = await explorer.call<Steps>('account/get-balance-history', { account: 'admin', ...months })
  expect(shown).toEqual(old.changes.map(({ date, closing }) => `${date.slice(0, 7)}: ${closing}`))
  expect(shown.length).toBeGreaterThan(12)
  const { changes } = await explorer.call<Changes>('account/get-balance-history', {
    account: 'busyhub',
    size: '10',
  })
  expect(await pointsOf('busyhub')).toEqual(
    changes
      .toReversed()
      .map(
        ({ created_at, balance, frozen }) => `${created_at.slice(0, 19).replace('T', ' ')}: ${sum(balance, frozen)}`,
      ),
  )
})

test('/account: the plot of changes numbers them, since their times are not at equal distances', async () => {
  const { visit } = await explorerOn({ isKeyless: true })
  for (const path of ['/account/busyhub', '/zh/account/user_001/iost']) {
    const { html } = await visit(path)
    const [, labels = ''] = /id="balance-over-time".*?<svg class="dates"[^>]*>(.*?)<\/svg>/s.exec(html) ?? []
    expect([
      path,
      labels
        .replaceAll(/<[^>]*>/g, ' ')
        .split(/\s+/)
        .filter(Boolean),
    ]).toEqual([path, ['1', '4', '7', '10']])
  }
})
