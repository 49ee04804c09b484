import { afterAll, expect, test } from 'bun:test'
import { createNode } from '#node/archive-node.ts'
import { patientClock } from '#test/support/clocks/patient-clock.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { rpcCalls } from '../support/nodes/recording.ts'
import { foreignIn, unescapeHtml } from './read-page.ts'
import { type Explorer, explorerOn } from './served.ts'

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

/** The explorer with a node that answers like the recorded one, except for `fault`. */
async function explorerWith(fault?: Fault): Promise<Explorer> {
  const faulty = stack.use(await startFaultyNode(fault))
  const node = createNode({ urls: [faulty.url], clock: patientClock })
  stack.defer(() => node.close())
  await node.watch(async () => undefined)
  return explorerOn({ node })
}

const explorer = await explorerWith()

type Asked = { readonly id: string; readonly key: string; readonly field?: string }

/** The recorded calls of a path with a key, and the value that the node gave. */
async function listRecorded(path: string): Promise<readonly (readonly [asked: Asked, value: string])[]> {
  const calls = (await rpcCalls()).filter(call => call.method === 'POST' && call.path === path && call.status === 200)
  const all = calls.map(({ body = '', text }) => [JSON.parse(body) as Asked, JSON.parse(text).data] as const)
  return all.filter(([{ id, key }]) => id !== 'nosuch.iost' && (key ?? '') !== '')
}

const pathOf = ({ id, key, field }: Asked): string =>
  `/contract/${id}/storage?${new URLSearchParams({ key, ...(field === undefined ? {} : { field }) })}`

const TITLE = /<h2 id="value"/

test('storage: each recorded value is shown as the node returns it, and completely on its own page', async () => {
  let shown = 0
  const listed = await listRecorded('/getContractStorageFields')
  for (const [asked, value] of await listRecorded('/getContractStorage')) {
    // A visit without a field also asks for the fields under the key.
    if (asked.field === undefined && !listed.some(([{ id, key }]) => id === asked.id && key === asked.key)) continue
    const { html } = await explorer.visit(pathOf(asked))
    const [, cell = ''] = /<dt>Value<\/dt><dd>(.*?)<\/dd>/s.exec(html) ?? []
    expect([asked, unescapeHtml(cell)]).toEqual([asked, expect.stringContaining(value.slice(0, 200))])
    expect(html).toContain('>4851</bdi>')
    const { response } = await explorer.visit(`${pathOf(asked)}&raw=1`)
    expect([response.headers.get('content-type'), await response.text()]).toEqual(['text/plain; charset=utf-8', value])
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
  const { visitBoth } = await explorerGiven(() => Response.json({ ...said, block_hash: 'a', block_number: '4851' }))
  for (const page of await visitBoth(pathOf({ id: 'token.iost', key: HOSTILE }))) {
    expect([page.response.status, foreignIn(page), /[\u202e\0]/.test(page.text)]).toEqual([200, [], false])
    expect(page.links.some(({ href }) => href.endsWith('field=__proto__'))).toBe(true)
  }
})

test("storage: the footer names the node's block for a value from a node, and the published block otherwise", async () => {
  const [[asked] = []] = await listRecorded('/getContractStorage')
  const behind = await explorerWith(async ({ path }, truth) =>
    path === '/getContractStorage'
      ? new Response((await truth()).replace(/"block_number":"\d+"/, '"block_number":"5120"'))
      : undefined,
  )
  const footOf = async (path: string) => /<footer.*?<p>(.*?)<\/p>/s.exec((await behind.visit(path)).html)?.[1]
  if (asked === undefined) throw new Error('No storage is recorded.')
  expect(await footOf(pathOf(asked))).toBe('From a node, as of irreversible block 5120.')
  expect(await footOf(`/zh${pathOf(asked)}`)).toBe('数据来自全节点，截至不可逆区块 5120。')
  expect(await footOf(`/contract/${asked.id}/storage`)).toStartWith('As of irreversible block 4851, ')
})
