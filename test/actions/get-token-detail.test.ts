import { expect, test } from 'bun:test'
import { askText } from '#test/support/stores/ask.ts'

test('get-token-detail: supplies keep every digit', async () => {
  expect(await askText('get-token-detail', { token: 'iost' })).toBe(
    '{"symbol":"iost","full_name":"iost","issuer":"issue.iost","decimal":8,"total_supply":"90000000000","current_supply":25994709832.99690697,"can_transfer":true,"only_issuer_can_transfer":false,"holder_count":192,"created_at":"2018-11-10T11:04:05.000Z","tx_hash":"Bw8cLZBdsga9D94iySxbqPFtzcWQrm8tN2hQXGu55qS7"}',
  )
})
