import { expect, test } from 'bun:test'
import type { Service } from '#test/support/processes/service.ts'
import { askQuery } from '#test/support/stores/ask.ts'
import { oracle } from '../support/nodes/recording.ts'

type Params = Readonly<Record<string, string>>

/**
 * Answers of actions over the whole chain equal those from the store of the action tests. The action tests
 * compare them with the contracts' storage and the blocks.
 */
export function exploreSuite(service: () => Service): void {
  const requireSame = async (action: string, params: Params, module = 'base'): Promise<void> => {
    const { ask, key } = service()
    const response = await ask(`/api/${module}/${action}?${new URLSearchParams(params)}`, {
      headers: { 'x-api-key': key },
    })
    const expected = await askQuery([['module', module], ['action', action], ...Object.entries(params)])
    const text = await response.text()
    expect([action, params, response.status, JSON.parse(text).data]).toEqual([
      action,
      params,
      200,
      JSON.parse(expected),
    ])
  }

  test('producers and tokens of the whole chain match, in pages and orders', async () => {
    for (const size of ['1', '7', '500'])
      for (const page of ['1', '2', '3', '99']) {
        await requireSame('get-token-list', { page, size })
        for (const sort of ['asc', 'desc']) await requireSame('get-producer-list', { page, size, sort })
      }
    for (const producer of (await oracle()).producers.keys())
      await requireSame('get-producer-votes', { producer }, 'producer')
  })

  test('daily statistics match, also for a range that begins years after the last day with blocks', async () => {
    for (const [start_date, end_date] of [
      ['2018-11-01', '2018-11-30'],
      ['2026-01-01', '2026-12-31'],
      ['2024-02-29', '2024-02-29'],
    ] as const)
      await requireSame('get-daily-statistics', { start_date, end_date })
    await requireSame('get-daily-statistics', {})
  })

  test('activity of accounts by day matches, with records on many days, on few and on none', async () => {
    const period = { start_date: '2026-09-01', end_date: '2026-11-21' }
    for (const account of ['busyhub', 'tokenboss', 'token.iost', '0', '__proto__'])
      for (const dates of [{}, period, { start_date: '2018-11-01', end_date: '2018-11-30' }])
        await requireSame('get-account-activity', { account, ...dates }, 'account')
  })

  test('activity of contracts and of their actions by day matches', async () => {
    for (const given of [{ contract: 'token.iost' }, { contract: 'token.iost', action_name: 'transfer' }])
      for (const dates of [{}, { start_date: '2026-09-01', end_date: '2026-11-21' }])
        await requireSame('get-contract-activity', { ...given, ...dates }, 'contract')
  })

  test('search matches for names and their prefixes, heights, contract hashes and hostile texts', async () => {
    const { accounts, tokens, contracts, producers } = await oracle()
    const names = [...accounts.keys(), ...tokens.keys(), ...contracts.keys(), ...producers.keys()]
    const texts = new Set(['', '%', '_', '*', '"', "'", '账户', 'x'.repeat(2_000), '4851', '4852', '0', '__proto__'])
    names.forEach((name, at) => {
      texts.add(name.slice(0, 1 + (at % name.length)))
      if (at % 5 === 0) texts.add(name).add(name.replace('Contract', ''))
    })
    for (const text of texts) await requireSame('search', { text })
  })
}
