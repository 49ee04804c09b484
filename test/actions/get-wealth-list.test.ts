import { describe, expect, test } from 'bun:test'
import { ask } from '#test/support/stores/ask.ts'

describe('get-wealth-list', () => {
  test('get-wealth-list: returns the richest owners of the recorded chain', async () => {
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
  test('get-wealth-list: page 0 is the same as page 1', async () => {
    expect(await ask('get-wealth-list', { page: '0' })).toEqual(await ask('get-wealth-list', { page: '1' }))
  })
})
