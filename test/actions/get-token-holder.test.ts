import { expect, test } from 'bun:test'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

test('get-token-holder: a token without holders has no rows, and neither has a page beyond the end', async () => {
  expect(await askText('get-token-holder', { token: 'neverissued' })).toBe(
    '{"holders":[],"page":1,"size":20,"total":0}',
  )
  expect(await askText('get-token-holder', { token: 'iost', page: '99', size: '500' })).toBe(
    '{"holders":[],"page":99,"size":500,"total":192}',
  )
})

test('get-token-holder: an unknown token is not found; in compat the requested page is empty', async () => {
  expect((await refusal(ask('get-token-holder', { token: 'nosuch' }))).kind).toBe('not_found')
  expect(await askText('get-token-holder', { token: 'nosuch', page: '3', size: '5' }, { compat: 'iostabc' })).toBe(
    '{"holders":[],"page":3,"size":5,"total":0}',
  )
})
