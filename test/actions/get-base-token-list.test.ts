import { describe, expect, test } from 'bun:test'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

/** Every token of the contract's storage with its number of holders, sorted by that number, then by symbol. */
async function expected(): Promise<readonly (readonly [symbol: string, holders: number])[]> {
  const { balances, frozen, tokens } = await oracle()
  const now = (await recordedBlocks()).at(-1)?.block.time ?? 0n
  return [...tokens.keys()]
    .map(symbol => {
      const holders = new Set<string>()
      for (const [owner, amount] of balances.get(symbol) ?? []) if (BigInt(amount) > 0n) holders.add(owner)
      for (const [owner, entries] of frozen.get(symbol) ?? [])
        for (const entry of entries)
          if (BigInt(entry.get('ftime') ?? '0') <= now && BigInt(entry.get('amount') ?? '0') > 0n) holders.add(owner)
      return [symbol, holders.size] as const
    })
    .toSorted(([a, held], [b, others]) => (held === others ? (a < b ? -1 : 1) : others - held))
}

describe('get-base-token-list', () => {
  test('get-base-token-list: lists all tokens by holders, then by symbol, in pages of every size', async () => {
    const whole = await expected()
    expect(whole.length).toBe(28)
    expect(whole.filter(([, holders]) => holders === 0).length).toBeGreaterThan(0)
    for (let size = 1; size <= whole.length + 1; size++)
      for (let page = 1; page <= Math.ceil(whole.length / size) + 1; page++) {
        const { tokens, ...part } = await ask('get-base-token-list', { page: `${page}`, size: `${size}` })
        expect(part).toEqual({ page, size, total: whole.length })
        expect(tokens.map((row: Row) => [row.symbol, row.holder_count])).toEqual(
          whole.slice((page - 1) * size, page * size),
        )
      }
  })

  test('get-base-token-list: each row matches get-token-detail', async () => {
    const { tokens } = await ask('get-base-token-list', { size: '500' })
    for (const row of tokens) expect(await ask('get-token-detail', { token: row.symbol })).toMatchObject(row)
    const restricted = tokens.filter((row: Row) => row.only_issuer_can_transfer)
    expect(restricted.map((row: Row) => row.symbol)).toContain('ram')
  })

  test('get-base-token-list: it is a different action than the token list of an account', async () => {
    expect((await refusal(ask('get-base-token-list', { account: 'busyhub' }))).kind).toBe('bad_request')
    expect(await askText('get-base-token-list', { page: '9999999999999999999', size: '500' })).toBe(
      '{"tokens":[],"page":9999999999999999999,"size":500,"total":28}',
    )
  })
})

type Row = {
  readonly symbol: string
  readonly holder_count: number
  readonly only_issuer_can_transfer: boolean
}
