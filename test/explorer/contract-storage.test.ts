import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createNode } from '#node/archive-node.ts'
import { patientClock } from '#test/support/clocks/patient-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { rpcCalls } from '../support/nodes/recording.ts'
import { foreignIn } from './read-page.ts'
import { type Explorer, explorerOn } from './served.ts'

const open: (() => unknown)[] = []
afterAll(async () => {
  for (const close of open) await close()
})

/** The explorer with a node that answers like the recorded one, except for `fault`. */
async function explorerWith(fault?: Fault): Promise<Explorer> {
  const faulty = await startFaultyNode(fault)
  const node = createNode({ urls: [faulty.url], clock: patientClock })
  open.push(
    () => node.close(),
    () => faulty[Symbol.asyncDispose](),
  )
  await node.watch(async () => undefined)
  return explorerOn({ node })
}

let explorer: Explorer
beforeAll(async () => {
  explorer = await explorerWith()
})

type Asked = { readonly id: string; readonly key: string; readonly field?: string }

const recorded = async (path: string) =>
  (await rpcCalls())
    .filter(call => call.method === 'POST' && call.path === path && call.status === 200)
    .map(({ body = '', text }) => ({
      asked: JSON.parse(body) as Asked,
      said: JSON.parse(text) as { readonly data: string; readonly fields: readonly string[] },
    }))
    .filter(({ asked: { id, key } }) => id !== 'nosuch.iost' && (key ?? '') !== '')

const pathOf = ({ id, key, field }: Asked, more: Readonly<Record<string, string>> = {}): string =>
  `/contract/${id}/storage?${new URLSearchParams({ key, ...(field === undefined ? {} : { field }), ...more })}`

const [TITLE, VALUE] = [/<h2 id="value"/, /<dt>Value<\/dt><dd>(.*?)<\/dd>/s]

test('storage: each recorded value is shown as the node returns it, and completely on its own page', async () => {
  let shown = 0
  const listed = await recorded('/getContractStorageFields')
  for (const { asked, said } of await recorded('/getContractStorage')) {
    // A visit without a field also asks for the fields under the key.
    const isListed = listed.some(each => each.asked.id === asked.id && each.asked.key === asked.key)
    if (asked.field === undefined && !isListed) continue
    const { html } = await explorer.visit(pathOf(asked))
    const [, cell = ''] = VALUE.exec(html) ?? []
    const shownCell = cell.replaceAll(/&quot;|&#34;/g, '"').replaceAll('&amp;', '&')
    expect([asked, shownCell]).toEqual([asked, expect.stringContaining(said.data.slice(0, 200))])
    expect(html).toContain('>4851</bdi>')
    const { response } = await explorer.visit(pathOf(asked, { raw: '1' }))
    expect([response.headers.get('content-type'), await response.text()]).toEqual([
      'text/plain; charset=utf-8',
      said.data,
    ])
    shown += 1
  }
  expect(shown).toBeGreaterThan(8)
})

test('storage: the fields of a map are listed, and each links to its value', async () => {
  const { html, links } = await explorer.visit('/contract/token.iost/storage?key=TIiost')
  expect(html).toContain('Fields: 8')
  const { href = '' } = links.find(each => each.href.endsWith('field=supply')) ?? {}
  const { pathname, search } = new URL(href, 'http://127.0.0.1/contract/token.iost/storage')
  const { text } = await explorer.visit(`${pathname}${search}`)
  expect(text).toContain('2599470983299690697')
  expect((await explorer.visit(`/zh${pathname}?key=TIiost`)).text).toContain('请选择其中的字段')
})

test('storage: a missing value and a missing contract are reported', async () => {
  const { text } = await explorer.visit('/contract/token.iost/storage?key=TBadmin&field=nosuch')
  expect(text).toContain('Nodes give null when there is nothing under a key.')
  expect((await explorer.visit('/contract/nosuch.iost/storage?key=x')).response.status).toBe(404)
  const { html } = await explorer.visit('/contract/token.iost/storage')
  expect([html.includes('name="key"'), TITLE.test(html)]).toEqual([true, false])
})

test('storage: pages only link to it if there is a node, and it says so if there is none', async () => {
  const alone = await explorerOn()
  const link = 'href="../contract/token.iost/storage"'
  expect((await explorer.visit('/contract/token.iost')).html).toContain(link)
  expect((await alone.visit('/contract/token.iost')).html).not.toContain(link)
  const { text, html } = await alone.visit('/contract/token.iost/storage?key=TIiost')
  expect(text).toContain('This service is not connected to a node')
  expect(html).toContain('value="TIiost"')
})

const explorerGiven = (response: () => Response): Promise<Explorer> =>
  explorerWith(({ path }) => (path.startsWith('/getContractStorage') ? response() : undefined))

test.each([
  ['refuses', () => new Response('{"code":12,"message":"Not Implemented"}', { status: 400 })],
  ['fails', () => new Response('', { status: 502 })],
  ['gives no text', () => new Response('{"data":1e300,"block_hash":"a","block_number":"1"}')],
  ['gives no JSON', () => new Response('<html>')],
])('storage: after an answer of a node that %s, the page says so and keeps the form', async (_, response) => {
  const { visit } = await explorerGiven(response)
  const { response: page, text, html } = await visit('/contract/token.iost/storage?key=TIiost&field=supply')
  expect([page.status, TITLE.test(html), html.includes('value="supply"')]).toEqual([200, false, true])
  expect(text).toContain('The node did not give the value. Try again later.')
})

/** This text would close its element, run a script, and reverse the following text. */
const HOSTILE = `"'></title></textarea></pre><script>bad()</script><img src=x onerror=bad()>\u202e\u0000`

test('storage: hostile keys, values and fields are shown and have no effect', async () => {
  const said = { data: HOSTILE, fields: [HOSTILE, '__proto__', 'x'.repeat(5_000), ''] }
  const { visit } = await explorerGiven(() => Response.json({ ...said, block_hash: 'a', block_number: '4851' }))
  for (const path of ['/contract/token.iost/storage', '/zh/contract/token.iost/storage']) {
    const page = await visit(`${path}?${new URLSearchParams({ key: HOSTILE })}`)
    expect([page.response.status, foreignIn(page), /[\u202e\0]/.test(page.text)]).toEqual([200, [], false])
    expect(page.links.some(({ href }) => href.endsWith('field=__proto__'))).toBe(true)
  }
})

test("storage: the footer names the node's block for a value from a node, and the published block otherwise", async () => {
  const [call] = await recorded('/getContractStorage')
  const behind = await explorerWith(async ({ path }, truth) =>
    path === '/getContractStorage'
      ? new Response((await truth()).replace(/"block_number":"\d+"/, '"block_number":"5120"'))
      : undefined,
  )
  const footOf = async (path: string) => /<footer.*?<p>(.*?)<\/p>/s.exec((await behind.visit(path)).html)?.[1]
  if (call === undefined) throw new Error('No storage is recorded.')
  expect(await footOf(pathOf(call.asked))).toBe('From a node, as of irreversible block 5120.')
  expect(await footOf(`/zh${pathOf(call.asked)}`)).toBe('数据来自全节点，截至不可逆区块 5120。')
  expect(await footOf(`/contract/${call.asked.id}/storage`)).toStartWith('As of irreversible block 4851, ')
})
