import { expect, test } from 'bun:test'
import { symbolsByFullName } from '#actions/find/matches.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { chainOf, genesis, receipt, transaction } from '#test/support/stores/hand-made.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

test('a single letter finds only the tokens of which it is the whole name', async () => {
  const { store, destroy } = await temporarySqlite()
  const created = (symbol: string, fullName: string) => {
    const config = Buffer.from(JSON.stringify({ decimal: 8, fullName })).toString('base64')
    return receipt('token.iost/create', [symbol, 'admin', 1_000, config])
  }
  const receipts = [created('xtok', 'X'), created('xxtok', 'XX'), created('star', '🚀')]
  await commitRuns(store, [chainOf([genesis()], [transaction({ receipts })])], { lib: 1 })
  const found = (text: string) => store.read(view => symbolsByFullName(view, text))
  expect([await found('x'), await found('X'), await found('🚀'), await found('')]).toEqual([
    ['xtok'],
    ['xtok'],
    ['star'],
    [],
  ])
  expect((await found('xx')).toSorted()).toEqual(['xxtok'])
  await destroy()
})
