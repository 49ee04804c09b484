import { expect, test } from 'bun:test'
import { ask } from '#test/support/stores/ask.ts'

const ID = 'Contract8Q1wGr7V1dDGevjdrtpSxJeNdQ6YfDZHNbaxTML8dwPp'

test("get-contract-detail: accepts a user's contract with and without its prefix", async () => {
  const answer = await ask('get-contract-detail', { contract: ID })
  expect(answer).toEqual({
    contract_id: ID,
    publisher: 'deployer1',
    created_at: '2026-11-21T07:49:40.000Z',
    tx_hash: ID.slice('Contract'.length),
  })
  expect(await ask('get-contract-detail', { contract: ID.slice('Contract'.length) })).toEqual(answer)
})

test('get-contract-detail: answers for contracts of genesis, including system.iost', async () => {
  expect(await ask('get-contract-detail', { contract: 'system.iost' })).toEqual({
    contract_id: 'system.iost',
    publisher: 'deadaddr',
    created_at: '2018-11-10T11:04:05.000Z',
    tx_hash: 'Bw8cLZBdsga9D94iySxbqPFtzcWQrm8tN2hQXGu55qS7',
  })
})
