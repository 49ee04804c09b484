import { describe, expect, test } from 'bun:test'
import { ask } from '#test/support/stores/ask.ts'

describe('get-subaccount-list', () => {
  test('get-subaccount-list: returns a row of the recorded chain character by character', async () => {
    expect(await ask('get-subaccount-list', { account: 'admin', size: '1' })).toEqual({
      accounts: [
        {
          seq: 23,
          name: 'user_098',
          created_by: 'admin',
          created_at: '2026-11-21T07:49:43.500Z',
          tx_hash: 'D5kiRjYqPSX7318DZDzBwNgzzy9jidtQJn1vvgGcVM1U',
        },
      ],
      page: 1,
      size: 1,
      total: 23,
    })
  })
  test('get-subaccount-list: the seq of a row selects it; in compat rows have no seq', async () => {
    const params = { account: 'admin', start_seq: '21', sort: 'asc', size: '2' }
    const { accounts, total } = await ask('get-subaccount-list', params)
    expect({ total, seqs: accounts.map(({ seq }: { seq: number }) => seq) }).toEqual({
      total: 3,
      seqs: [21, 22],
    })
    const old = await ask('get-subaccount-list', params, { compat: 'iostabc' })
    expect(old.accounts).toEqual(accounts.map(({ seq: _, ...row }: { seq: number }) => row))
  })
})
