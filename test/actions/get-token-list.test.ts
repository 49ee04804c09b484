import { describe, expect, test } from 'bun:test'
import { oracle, recordedBlocks } from '#test/support/nodes/recording.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

describe('get-token-list', () => {
  test('get-token-list: frozen amounts of every token have the times of the contract storage', async () => {
    const { frozen } = await oracle()
    const now = (await recordedBlocks()).at(-1)?.block.time ?? 0n
    let compared = 0
    for (const [symbol, rows] of frozen)
      for (const [owner, entries] of rows) {
        const held = entries
          .map(entry => [BigInt(entry.get('amount') ?? '0'), BigInt(entry.get('ftime') ?? '0')])
          .filter(([, time = 0n]) => time > now)
        const { tokens } = await ask('get-token-list', { account: owner })
        const row = tokens.find((each: Row) => each.symbol === symbol) as Row | undefined
        const said = (row?.frozen_list ?? []).map(({ amount, time }) => [
          toUnits(amount, row?.decimal ?? 0),
          BigInt(time),
        ])
        expect([owner, symbol, said]).toEqual([owner, symbol, held])
        compared += held.length
      }
    expect(compared).toBeGreaterThan(0)
    expect(await askText('get-token-list', { account: 'busyhub' }, { compat: 'iostabc' })).not.toContain('frozen_list')
  })
  test('get-token-list: accepts names that are members of JavaScript objects, and returns full names of all kinds', async () => {
    const text = await askText('get-token-list', { account: '12345' })
    for (const symbol of ['__proto__', 'constructor', 'null', '1e5']) expect(text).toContain(`"symbol":"${symbol}"`)
  })
})

type Row = {
  readonly symbol: string
  readonly balance: string
  readonly frozen_balance: string
  readonly frozen_list: readonly { readonly amount: string; readonly time: string }[]
  readonly decimal: number
}

function toUnits(text: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}
