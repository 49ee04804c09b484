import { describe, expect, test } from 'bun:test'
import { ask, askText } from '#test/support/stores/ask.ts'

describe('get-producer-voter', () => {
  test('get-producer-voter: a page without a size has twenty rows', async () => {
    const whole = await ask('get-producer-voter', { producer: 'prod_01' })
    expect(await ask('get-producer-voter', { producer: 'prod_01', page: '1' })).toEqual({
      voters: whole.voters.slice(0, 20),
      page: 1,
      size: 20,
      total: whole.total,
    })
  })
  test('get-producer-voter: account is an alias of producer, and both may be given with the same value', async () => {
    const said = await askText('get-producer-voter', { producer: 'prod_01' })
    expect(await askText('get-producer-voter', { account: 'prod_01' })).toBe(said)
    expect(await askText('get-producer-voter', { account: 'prod_01', producer: 'prod_01' })).toBe(said)
  })
})
