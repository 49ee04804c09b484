import { describe, expect, test } from 'bun:test'
import { ask, askText } from '#test/support/stores/ask.ts'

const HUGE = '9999999999999999999'

describe('get-wealth-list', () => {
  test('get-wealth-list: the richest of the recorded chain', async () => {
    expect(await ask('get-wealth-list', { size: '1' })).toEqual({
      wealth: [
        {
          symbol: 'iost',
          account: 'admin',
          balance: '20577250095.04654322',
          token_balance: '18577250095.04654322',
          vote_balance: '2000000000',
          frozen_balance: '0',
        },
      ],
      page: 1,
      size: 1,
      total: 187,
    })
  })
  test('get-wealth-list: pages of any size are the whole list, ordered, each total its sum', async () => {
    const whole = (await ask('get-wealth-list', { size: '500' })).wealth as Row[]
    expect(whole.length).toBe(187)
    for (const size of [1, 7, 50]) {
      const pages: Row[] = []
      for (let page = 1; pages.length < whole.length; page += 1)
        pages.push(...(await ask('get-wealth-list', { page: `${page}`, size: `${size}` })).wealth)
      expect(pages).toEqual(whole)
    }
    const units = whole.map(row => ({ ...row, total: toUnits(row.balance) }))
    expect(units.filter(({ total }) => total <= 0n)).toEqual([])
    expect(whole.filter(({ account }) => account.endsWith('.iost'))).toEqual([])
    expect(
      units.filter(
        row =>
          row.total !== toUnits(row.token_balance) + toUnits(row.vote_balance) + toUnits(row.frozen_balance),
      ),
    ).toEqual([])
    const sorted = units.toSorted((a, b) =>
      a.total === b.total ? (a.account < b.account ? -1 : 1) : a.total > b.total ? -1 : 1,
    )
    expect(sorted).toEqual(units)
  })
  test('get-wealth-list: a page far beyond the end is empty and keeps its number', async () => {
    expect(await askText('get-wealth-list', { page: HUGE, size: '500' }, { numbers: 'string' })).toBe(
      `{"wealth":[],"page":${HUGE},"size":500,"total":187}`,
    )
  })
  test('get-wealth-list: page 0 is page 1', async () => {
    expect(await ask('get-wealth-list', { page: '0' })).toEqual(await ask('get-wealth-list', { page: '1' }))
  })
})

type Row = {
  readonly account: string
  readonly balance: string
  readonly token_balance: string
  readonly vote_balance: string
  readonly frozen_balance: string
}

const toUnits = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(8, '0'))
}
