import { expect, test } from 'bun:test'
import { contracts } from '#indices/contract.ts'
import type { Store, View } from '#store/port.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { chainOf, genesis, receipt, transaction } from '../support/stores/hand-made.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { explorerOn } from './served.ts'

test('owners with impossible names: a name that can have a page is a link, the others are plain text', async () => {
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

test('/contract: a name that is neither a contract nor an owner is read once', async () => {
  const { store, destroy } = await temporarySqlite()
  await commitRuns(store, [chainOf([genesis()])], { lib: 0 })
  const sought: string[] = []
  const counted: Store = {
    ...store,
    read: (work, options) =>
      store.read((view: View) => {
        const get: View['get'] = (index, id) => {
          if ((index as unknown) === contracts) sought.push(id)
          return view.get(index, id)
        }
        return work({ ...view, get })
      }, options),
  }
  const { visit } = await explorerOn({}, counted)
  const { response, html } = await visit('/contract/nosuch.iost')
  expect([response.status, sought]).toEqual([404, ['nosuch.iost']])
  expect(html).toContain('does not exist at block 0')
  await destroy()
})
