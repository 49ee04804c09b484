import { describe, expect, test } from 'bun:test'
import { oracle, type Tree } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

type Row = { readonly name: string; readonly created_by: string }

describe('get-subaccount-list', () => {
  test('get-subaccount-list: every account is in the list of its creator, once', async () => {
    const created = new Map<string, string[]>()
    for (const [name, account] of (await oracle()).accounts) {
      const creator = String((account as ReadonlyMap<string, Tree>).get('creator'))
      created.set(creator, [...(created.get(creator) ?? []), name])
    }
    const listed = new Map<string, string[]>()
    for (const creator of created.keys()) {
      const { accounts, total } = await ask('get-subaccount-list', { account: creator, size: '500' })
      expect(accounts.length).toBe(total)
      expect(accounts.every((row: Row) => row.created_by === creator)).toBe(true)
      listed.set(creator, accounts.map((row: Row) => row.name).toSorted())
    }
    expect(listed).toEqual(new Map([...created].map(([creator, names]) => [creator, names.toSorted()])))
  })
  test('get-subaccount-list: asc is the exact reverse, pages join', async () => {
    const desc = (await ask('get-subaccount-list', { account: 'admin', size: '500' })).accounts as Row[]
    const asc: Row[] = []
    for (let page = 1; asc.length < desc.length; page += 1)
      asc.push(
        ...(await ask('get-subaccount-list', { account: 'admin', sort: 'asc', page: `${page}`, size: '4' }))
          .accounts,
      )
    expect(asc.toReversed()).toEqual(desc)
  })
  test('get-subaccount-list: a row of the recorded chain', async () => {
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
  test('get-subaccount-list: the seq of a row names it; in compat there is none', async () => {
    const params = { account: 'admin', start_seq: '21', sort: 'asc', size: '2' }
    const { accounts, total } = await ask('get-subaccount-list', params)
    expect({ total, seqs: accounts.map(({ seq }: { seq: number }) => seq) }).toEqual({
      total: 3,
      seqs: [21, 22],
    })
    const old = await ask('get-subaccount-list', params, { compat: 'iostabc' })
    expect(old.accounts).toEqual(accounts.map(({ seq: _, ...row }: { seq: number }) => row))
  })
  test('get-subaccount-list: none created is [], unknown is not found', async () => {
    expect(await askText('get-subaccount-list', { account: 'foundation' })).toBe(
      '{"accounts":[],"page":1,"size":20,"total":0}',
    )
    expect((await refusal(ask('get-subaccount-list', { account: 'nosuchacc' }))).kind).toBe('not_found')
    expect(
      await askText('get-subaccount-list', { account: 'nosuchacc', size: '7' }, { compat: 'iostabc' }),
    ).toBe('{"accounts":[],"page":1,"size":7,"total":0}')
  })
})
