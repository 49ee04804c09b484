import { describe, expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask.ts'

type Entry = { readonly account: string; readonly balance: string; readonly frozen_balance: string }

describe('get-balances', () => {
  test('get-balances: balances of every token and owner match the chain, fifty per call', async () => {
    const { balances, frozen, tokens } = await oracle()
    const now = (await recordedBlocks()).at(-1)?.block.time ?? 0n
    const wrong: unknown[] = []
    let count = 0
    for (const [token, stored] of balances) {
      const decimals = Number(tokens.get(token)?.get('decimal'))
      const later = frozen.get(token)
      const names = [...new Set([...stored.keys(), ...(later?.keys() ?? [])])]
      for (let at = 0; at < names.length; at += 50) {
        const accounts = names.slice(at, at + 50)
        const answer = await ask('get-balances', { accounts: accounts.join(','), token })
        const expected = accounts.map(account => {
          const held = { amount: BigInt(stored.get(account) ?? '0'), frozen: 0n }
          for (const entry of later?.get(account) ?? []) {
            const kind = BigInt(entry.get('ftime') ?? '0') <= now ? 'amount' : 'frozen'
            held[kind] += BigInt(entry.get('amount') ?? '0')
          }
          return {
            account,
            balance: fromUnits(held.amount, decimals),
            frozen_balance: fromUnits(held.frozen, decimals),
          }
        })
        count += accounts.length
        if (!Bun.deepEquals(answer, { balances: expected }, true)) wrong.push({ token, answer, expected })
      }
    }
    expect({ many: count > 500, wrong }).toEqual({ many: true, wrong: [] })
  })
  test('get-balances: IOST matches get-account-balance, frozen tokens match get-token-list', async () => {
    const names = [...(await oracle()).accounts.keys()]
    for (let at = 0; at < names.length; at += 50) {
      const asked = names.slice(at, at + 50)
      const { balances } = await ask('get-balances', { accounts: asked.join(',') })
      for (const [index, account] of asked.entries()) {
        const one = await ask('get-account-balance', { account })
        expect(balances[index]).toEqual({
          account,
          balance: one.balance,
          frozen_balance: one.frozen_balance.total,
        })
      }
    }
    let frozen = 0
    for (const account of names.slice(0, 100))
      for (const row of (await ask('get-token-list', { account })).tokens) {
        const { balances } = await ask('get-balances', { accounts: account, token: row.symbol })
        expect(balances).toEqual([{ account, balance: row.balance, frozen_balance: row.frozen_balance }])
        if (row.frozen_balance !== '0') frozen += 1
      }
    expect(frozen).toBeGreaterThan(0)
  })
  test('get-balances: a call with several tokens matches calls with one token', async () => {
    const accounts = 'busyhub,nosuchacc,admin'
    const symbols = ['ram', 'iost', 'ram']
    const { balances } = await ask('get-balances', { accounts, tokens: symbols.join(',') })
    const single = await Promise.all(
      symbols.map(async token => (await ask('get-balances', { accounts, token })).balances),
    )
    expect(balances).toEqual(
      [0, 1, 2].flatMap(account =>
        symbols.map((token, at) => {
          const entry: Entry | null = single[at]?.[account]
          return entry && { ...entry, token }
        }),
      ),
    )
    expect(balances[0].token).toBe('ram')
    expect(await refusal(ask('get-balances', { accounts, tokens: 'iost', token: 'ram' }))).toMatchObject({
      kind: 'bad_request',
    })
    const many = { accounts: Array(50).fill('admin').join(','), tokens: Array(11).fill('iost').join(',') }
    expect((await refusal(ask('get-balances', many))).en).toContain('550 balances; a call returns at most 500')
    expect(await refusal(ask('get-balances', { accounts, tokens: 'iost,nosuchtoken' }))).toMatchObject({
      kind: 'not_found',
    })
  })
  test('get-balances: answers are in the requested order with duplicates; unknown owners are null, owners without the token have 0', async () => {
    const id = 'ContractDjQbPXmoCWuLUCex5cJ6b6zjTAp5J66ZCu5yY4vRNp59'
    const bare = id.slice('Contract'.length)
    const accounts = ['nosuchacc', 'admin', '0', bare, 'admin', id, '54321', 'deadaddr'].join(',')
    const { balances } = await ask('get-balances', { accounts })
    const balance = (await ask('get-account-balance', { account: id })).balance
    expect(balances.map((entry: Entry | null) => entry?.account ?? null)).toEqual([
      null,
      'admin',
      '0',
      id,
      'admin',
      id,
      null,
      'deadaddr',
    ])
    expect(balances[3]).toEqual({ account: id, balance, frozen_balance: '2345.678' })
    expect(balances[1]).toEqual(balances[4])
    expect(balances[2]).toEqual({ account: '0', balance: '0', frozen_balance: '0' })
    expect(await ask('get-balances', { accounts: 'nosuchacc,neverseen.iost' })).toEqual({
      balances: [null, null],
    })
  })
  test('get-balances: a refusal names the wrong value', async () => {
    const rule =
      'an account name (5 to 11 characters of a-z, 0-9 and _, or 0x and 40 lower-case hexadecimal digits), a contract id, a base58 public key, or 0'
    const many = Array.from({ length: 51 }, () => 'admin').join(',')
    expect((await ask('get-balances', { accounts: many.slice('admin,'.length) })).balances).toHaveLength(50)
    for (const [accounts, message] of [
      ['admin,BAD,x', `Value 2 of parameter 'accounts' is 'BAD'; it must be ${rule}.`],
      ['admin,', `Value 2 of parameter 'accounts' is ''; it must be ${rule}.`],
      ['', `Value 1 of parameter 'accounts' is ''; it must be ${rule}.`],
      [
        many,
        `Parameter 'accounts' is '${many.slice(0, 64)}…'; it must be 1 to 50 values joined by commas, each ${rule}.`,
      ],
    ] as const)
      expect(await refusal(ask('get-balances', { accounts }))).toMatchObject({
        kind: 'bad_request',
        en: message,
      })
  })
})
