import { expect, test } from 'bun:test'
import { fromUnits } from '#chain/amount.ts'
import { oracle, rpcAnswers } from '#test/support/nodes/recording.ts'
import { refusal } from '#test/support/refusal.ts'
import { ask, askText } from '#test/support/stores/ask.ts'

test('get-token-detail: every token is what its node says', async () => {
  const { tokens } = await oracle()
  const answers = await rpcAnswers()
  const wrong: unknown[] = []
  let restricted = 0
  for (const symbol of tokens.keys()) {
    const node = JSON.parse(answers.get(`GET /getTokenInfo/${symbol}/true`) ?? 'null')
    const { holder_count, created_at, tx_hash, ...said } = await ask('get-token-detail', { token: symbol })
    const expected = {
      symbol,
      full_name: node.full_name,
      issuer: node.issuer,
      decimal: node.decimal,
      total_supply: fromUnits(BigInt(node.total_supply), node.decimal),
      current_supply: fromUnits(BigInt(node.current_supply), node.decimal),
      can_transfer: node.can_transfer,
      only_issuer_can_transfer: node.only_issuer_can_transfer,
    }
    const forms = Number.isSafeInteger(holder_count) && /Z$/.test(created_at) && tx_hash.length > 42
    restricted += Number(said['only_issuer_can_transfer'])
    if (!forms || !Bun.deepEquals(said, expected, true)) wrong.push({ said, expected })
  }
  expect({ count: tokens.size, wrong, someRestricted: restricted > 0 }).toEqual({
    count: 28,
    wrong: [],
    someRestricted: true,
  })
})

test('get-token-detail: supplies keep every digit', async () => {
  expect(await askText('get-token-detail', { token: 'iost' })).toBe(
    '{"symbol":"iost","full_name":"iost","issuer":"issue.iost","decimal":8,"total_supply":"90000000000","current_supply":25994709832.99690697,"can_transfer":true,"only_issuer_can_transfer":false,"holder_count":192,"created_at":"2018-11-10T11:04:05.000Z","tx_hash":"Bw8cLZBdsga9D94iySxbqPFtzcWQrm8tN2hQXGu55qS7"}',
  )
})

test('get-token-detail: unknown is not found', async () => {
  expect(await refusal(ask('get-token-detail', { token: 'nosuch' }))).toEqual({
    kind: 'not_found',
    en: "Token 'nosuch' does not exist at block 4851.",
    zh: "代币 'nosuch' 不存在（截至区块 4851）。",
  })
})
