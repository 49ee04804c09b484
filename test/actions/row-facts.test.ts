import { expect, test } from 'bun:test'
import { plainLists } from '#test/support/oracle/plain-lists.ts'
import { listCall } from '#test/support/oracle/plain-records.ts'
import { ask } from '#test/support/stores/ask.ts'

type Row = {
  readonly amount?: string
  readonly token?: string
  readonly memo?: string
  readonly locked_until?: string
  readonly collection?: string
  readonly token_id?: string
}

const factsOf = ({ amount, token, memo, locked_until, collection, token_id }: Row): Row =>
  JSON.parse(JSON.stringify({ amount, token, memo, locked_until, collection, token_id }))

test('rows of records: amount, token, memo and locked_until match the receipts', async () => {
  const seen = new Map<string, number>()
  for (const [key, plain] of await plainLists()) {
    if (!/^contract\/(?:Contract|token|token721|gas|ram|vote_|auth|bonus)/.test(key)) continue
    const call = listCall(key)
    const rows: Row[] = []
    for (let page = 1; rows.length < plain.length; page += 1) {
      const params = { ...call?.params, sort: 'asc', size: '500', page: String(page) }
      rows.push(...(await ask(`get-${call?.action}`, params)).transactions)
    }
    expect(rows.length).toBe(plain.length)
    for (const [at, { contract, action, facts, hash }] of plain.entries()) {
      const got = factsOf(rows[at] ?? {})
      if (!Bun.deepEquals(got, { ...facts }, true)) expect([hash, action, got]).toEqual([hash, action, facts])
      for (const name of Object.keys(facts)) {
        const kind = `${contract}/${action} ${name}`
        seen.set(kind, (seen.get(kind) ?? 0) + 1)
      }
    }
  }
  expect([...seen.keys()].sort()).toEqual(
    [
      ...['gas.iost/pledge', 'gas.iost/unpledge', 'ram.iost/buy', 'ram.iost/sell'].map(name => `${name} amount`),
      ...['vote_producer.iost/unvote', 'vote_producer.iost/vote'].map(name => `${name} amount`),
      ...['destroy', 'issue', 'transfer', 'transferFreeze'].flatMap(name => [
        `token.iost/${name} amount`,
        `token.iost/${name} token`,
      ]),
      ...['issue', 'transfer'].flatMap(name => ['collection', 'token_id'].map(fact => `token721.iost/${name} ${fact}`)),
      'token.iost/transfer memo',
      'token.iost/transferFreeze memo',
      'token.iost/transferFreeze locked_until',
    ].sort(),
  )
})

test('rows of records: with compat=iostabc they have only the fields of the old service', async () => {
  const { transactions } = await ask('get-token-tx', { token: 'iost', size: '500' }, { compat: 'iostabc' })
  const names = new Set(transactions.flatMap((row: object) => Object.keys(row)))
  expect(['amount', 'token', 'memo', 'locked_until'].filter(name => names.has(name))).toEqual(['amount'])
  const votes = { contract: 'vote_producer.iost', action_name: 'vote', size: '500' }
  const rows = (await ask('get-contract-tx', votes, { compat: 'iostabc' })).transactions
  expect(rows.some((row: Row) => row.amount !== undefined)).toBe(false)
})
