import { expect, test } from 'bun:test'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { chainOf, genesis, receipt, transaction } from '../support/stores/hand-made.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { explorerOn } from './served.ts'

test('owners that nobody can be: one that can have a page leads to it, the others are names', async () => {
  const { store, destroy } = await temporarySqlite()
  const receipts = ['Contractx', 'nosuch.iost', ' a/b.iost'].map(name =>
    receipt('token.iost/transfer', ['iost', 'alice00', name, '7', '']),
  )
  await commitRuns(store, [chainOf([genesis()], [transaction({ receipts })])], { lib: 1 })
  const { visit } = await explorerOn({}, store)
  const { links, text } = await visit('/token/iost')
  const named = links.flatMap(
    ({ href }) => /(?:contract|account)\/(?:Contractx|nosuch|.*a%2Fb).*/.exec(href)?.[0] ?? [],
  )
  expect(new Set(named)).toEqual(new Set(['contract/Contractx', 'contract/nosuch.iost']))
  expect(text).toContain(' a/b.iost')
  for (const id of ['Contractx', 'nosuch.iost']) {
    const { response } = await visit(`/contract/${id}`)
    expect([response.status, response.headers.get('location')]).toEqual([302, `../account/${id}`])
    expect((await visit(`/account/${id}`)).response.status).toBe(200)
  }
  expect((await visit('/contract/Contracty')).response.status).toBe(404)
  await destroy()
})
