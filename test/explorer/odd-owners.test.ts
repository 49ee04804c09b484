import { expect, test } from 'bun:test'
import { contracts } from '#indices/contract.ts'
import type { Store, View } from '#store/port.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { action, chainOf, genesis, receipt, transaction } from '../support/stores/hand-made.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { nodeText } from '../support/stores/node-text.ts'
import { explorerOn } from './served.ts'

/** A transaction with the body that pages read. */
const told = (tx: ReturnType<typeof transaction>) => ({ ...tx, body: nodeText(tx) })

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

test('owners with impossible names: they are the recipients of what was issued to them, and marked as no accounts', async () => {
  const { store, destroy } = await temporarySqlite()
  // A blank at the end, and a Cyrillic letter. The balance of the second is lost.
  const receipts = ['bob0000 ', 'b\u043eb0000'].map(text => receipt('token.iost/issue', ['iost', text, '7']))
  const made = transaction({ receipts })
  const failed = transaction({ actions: [action('token.iost /run', [])], receipt: { statusCode: 'RUNTIME_ERROR' } })
  await commitRuns(store, [chainOf([told(genesis())], [told(made), told(failed)])], { lib: 1 })
  const { visit } = await explorerOn({}, store)
  const marks = async (path: string, mark: string) => (await visit(path)).text.split(mark).length - 1
  const pages = ['/token/iost?from=2019-03-01', '/token/iost?holders=1', `/tx/${made.hash}`, '/transactions']
  const counts = await Promise.all(
    pages.map(async path => [await marks(path, 'not an account'), await marks(`/zh${path}`, '非账户')]),
  )
  // The page of a token also lists the largest holders.
  expect(counts).toEqual([3, 2, 2, 2].map(count => [count, count]))
  const { links } = await visit('/token/iost?start_block=1')
  expect(links.filter(({ href }) => href.endsWith('contract/token.iost'))).toEqual([])
  const { html } = await visit('/account/alice00')
  const offered = [...html.matchAll(/<option>([^<]*)/g)].map(([, name = '']) => name)
  expect([offered.includes('deadaddr'), offered.filter(name => /b.b0000/.test(name))]).toEqual([true, []])
  expect([await marks('/transactions', 'not a contract'), await marks('/zh/transactions', '非合约')]).toEqual([1, 1])
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

test('addresses: every page and file of one in mixed case leads to that of the address', async () => {
  const { visit, ask } = await explorerOn()
  const lower = '0x7c92f5fe3f67b836df744e98f2fad8e42743f9cc'
  const mixed = '0x7c92f5FE3F67B836DF744E98F2fad8e42743F9CC'
  for (const [path, to] of [
    [`/account/${mixed}`, `../account/${lower}`],
    [`/account/${mixed}?token=iost&page=2`, `../account/${lower}?token=iost&page=2`],
    [`/zh/account/${mixed}`, `../account/${lower}`],
    [`/account/${mixed}/iost`, `../../account/${lower}/iost`],
    [`/producer/${mixed}`, `../producer/${lower}`],
  ] as const) {
    const { response } = await visit(path)
    expect([path, response.status, response.headers.get('location')]).toEqual([path, 302, to])
  }
  for (const path of [`/account/${lower}/records.csv`, `/account/${lower}/sub-accounts.csv`]) {
    const [own, other] = [await ask(path), await ask(path.replace(lower, mixed))]
    expect([path, other.status]).toEqual([path, own.status])
    expect(await other.bytes()).toEqual(await own.bytes())
  }
})
