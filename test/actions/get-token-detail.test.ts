import { expect, test } from 'bun:test'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

test('get-token-detail: supplies keep every digit', async () => {
  expect(await askText('get-token-detail', { token: 'iost' })).toBe(
    '{"symbol":"iost","full_name":"iost","issuer":"issue.iost","decimal":8,"total_supply":"90000000000","current_supply":25994709832.99690697,"can_transfer":true,"only_issuer_can_transfer":false,"holder_count":192,"created_at":"2018-11-10T11:04:05.000Z","tx_hash":"Bw8cLZBdsga9D94iySxbqPFtzcWQrm8tN2hQXGu55qS7"}',
  )
})

test('get-token-detail: an unknown token is not found', async () => {
  expect(await refusal(ask('get-token-detail', { token: 'nosuch' }))).toEqual({
    kind: 'not_found',
    en: "Token 'nosuch' does not exist at block 4851.",
    zh: "代币 'nosuch' 不存在（截至区块 4851）。",
  })
})
