import { describe, expect, test } from 'bun:test'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

describe('get-producer-voter', () => {
  test('get-producer-voter: with a page and no size there are twenty', async () => {
    const whole = await ask('get-producer-voter', { producer: 'prod_01' })
    expect(await ask('get-producer-voter', { producer: 'prod_01', page: '1' })).toEqual({
      voters: whole.voters.slice(0, 20),
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
