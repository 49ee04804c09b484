import { describe, expect, test } from 'bun:test'
import { oracle } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

describe('get-producer-voter', () => {
  test('get-producer-voter: all voters of every producer, unregistered ones too', async () => {
    const { votes } = await oracle()
    const wrong: string[] = []
    for (const [producer, voters] of votes) {
      const expected = [...voters]
        .toSorted(([a, x], [b, y]) => compare(y, x) || (a < b ? -1 : 1))
        .map(([account, amount]) => ({ account, votes: amount }))
      const said = await ask('get-producer-voter', { producer })
      const whole = { voters: expected, page: 1, size: expected.length, total: expected.length }
      if (!Bun.deepEquals(said, whole, true)) wrong.push(producer)
    }
    expect({ many: votes.size > 12, wrong }).toEqual({ many: true, wrong: [] })
  })
  test('get-producer-voter: pages join to the whole list', async () => {
    const whole = await ask('get-producer-voter', { producer: 'prod_01' })
    const rows: unknown[] = []
    for (let page = 1; rows.length < whole.total; page += 1)
      rows.push(
        ...(await ask('get-producer-voter', { producer: 'prod_01', page: `${page}`, size: '7' })).voters,
      )
    expect(rows).toEqual(whole.voters)
    const first = await ask('get-producer-voter', { producer: 'prod_01', page: '1' })
    expect({ ...first, voters: first.voters.length }).toEqual({
      voters: 20,
      page: 1,
      size: 20,
      total: whole.total,
    })
  })
  test('get-producer-voter: account is the second name, both alike are one', async () => {
    const said = await askText('get-producer-voter', { producer: 'prod_01' })
    expect(await askText('get-producer-voter', { account: 'prod_01' })).toBe(said)
    expect(await askText('get-producer-voter', { account: 'prod_01', producer: 'prod_01' })).toBe(said)
  })
  test('get-producer-voter: no producer is not found', async () => {
    expect((await refusal(ask('get-producer-voter', { producer: 'busyhub' }))).kind).toBe('not_found')
    expect(await askText('get-producer-voter', { producer: 'busyhub' }, { compat: 'iostabc' })).toBe(
      '{"voters":[],"page":1,"size":0,"total":0}',
    )
  })
})

const compare = (a: string, b: string): number => {
  const difference = toUnits(a) - toUnits(b)
  return difference === 0n ? 0 : difference > 0n ? 1 : -1
}
const toUnits = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(8, '0'))
}
