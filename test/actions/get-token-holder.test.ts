import { expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

test('get-token-holder: all holders of every token, page by page', async () => {
  const { balances, frozen, tokens } = await oracle()
  const now = (await recordedBlocks()).at(-1)?.block.time ?? 0n
  const wrong: string[] = []
  for (const [symbol, token] of tokens) {
    const held = new Map<string, bigint>()
    for (const [owner, amount] of balances.get(symbol) ?? []) held.set(owner, BigInt(amount))
    for (const [owner, entries] of frozen.get(symbol) ?? [])
      for (const entry of entries)
        if (BigInt(entry.get('ftime') ?? '0') <= now)
          held.set(owner, (held.get(owner) ?? 0n) + BigInt(entry.get('amount') ?? '0'))
    const expected = [...held]
      .filter(([, amount]) => amount > 0n)
      .toSorted(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1))
      .map(([account, amount]) => ({
        account,
        balance: fromUnits(amount, Number(token.get('decimal'))),
        symbol,
      }))
    const rows: unknown[] = []
    for (let page = 1; rows.length < expected.length; page += 1) {
      const answer = await ask('get-token-holder', { token: symbol, page: `${page}`, size: '50' })
      if (answer.total !== expected.length || answer.holders.length === 0) break
      rows.push(...answer.holders)
    }
    if (!Bun.deepEquals(rows, expected, true)) wrong.push(symbol)
  }
  expect({ count: tokens.size, wrong }).toEqual({ count: 28, wrong: [] })
})

test('get-token-holder: a token without holders has no rows, and neither has a page beyond the end', async () => {
  expect(await askText('get-token-holder', { token: 'neverissued' })).toBe(
    '{"holders":[],"page":1,"size":20,"total":0}',
  )
  expect(await askText('get-token-holder', { token: 'iost', page: '99', size: '500' })).toBe(
    '{"holders":[],"page":99,"size":500,"total":192}',
  )
})

test('get-token-holder: an unknown token is not found, in compat an empty list of the page asked for', async () => {
  expect((await refusal(ask('get-token-holder', { token: 'nosuch' }))).kind).toBe('not_found')
  expect(
    await askText('get-token-holder', { token: 'nosuch', page: '3', size: '5' }, { compat: 'iostabc' }),
  ).toBe('{"holders":[],"page":3,"size":5,"total":0}')
})
