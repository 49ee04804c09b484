import { describe, expect, test } from 'bun:test'
import { oracle, rpcAnswers } from '#test/support/nodes/recording.ts'
import { ask } from '#test/support/stores/ask.ts'

describe('get-account-balance', () => {
  test('get-account-balance: a balance beyond the precision of a double is exact', async () => {
    const answer = await ask('get-account-balance', { account: 'admin' })
    expect(answer).toEqual({
      name: 'admin',
      balance: '18577250095.04654322',
      frozen_balance: { total: '0', list: [] },
      vote_balance: {
        total: '2000000000',
        list: [{ option: 'producer000', votes: '2000000000', cleared_votes: '0' }],
      },
    })
    expect((await oracle()).balances.get('iost')?.get('admin')).toBe('1857725009504654322')
  })
  test('get-account-balance: accepts a contract with and without its prefix', async () => {
    const id = 'ContractDjQbPXmoCWuLUCex5cJ6b6zjTAp5J66ZCu5yY4vRNp59'
    const answer = await ask('get-account-balance', { account: id })
    expect(answer.name).toBe(id)
    expect(await ask('get-account-balance', { account: id.slice('Contract'.length) })).toEqual(answer)
    const node = JSON.parse((await rpcAnswers()).get(`GET /getContractVote/${id}/true`) ?? '{}')
    expect(answer.vote_balance.list.map(({ option, votes }: Vote) => [option, Number(votes)])).toEqual(
      node.vote_infos
        .map(({ option, votes }: { option: string; votes: number }) => [option, votes])
        .toSorted((a: [string, number], b: [string, number]) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)),
    )
  })
  test('get-account-balance: answers for system contracts and the witness of genesis', async () => {
    expect((await ask('get-account-balance', { account: 'vote.iost' })).balance).toBe('2015320428.98148137')
    expect(await ask('get-account-balance', { account: '0' })).toEqual({
      name: '0',
      balance: '0',
      frozen_balance: { total: '0', list: [] },
      vote_balance: { total: '0', list: [] },
    })
  })
})

type Vote = { readonly option: string; readonly votes: string }
