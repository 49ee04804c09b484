import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { actions } from '#actions/registry.ts'
import { formatRoute, operationId } from '#http/openapi/action-operation.ts'
import { shareBrowser } from '#test/support/browser/browser.ts'
import { type ClientAction, clientModuleOf, clientOf } from '#test/support/processes/client.ts'
import { runTool } from '#test/support/processes/run-tool.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { loadedStore } from '#test/support/stores/loaded.ts'
import { serveForGenerators } from './generators/served.ts'
import { limitExample, lists } from './list-calls.ts'

const served = await serveForGenerators()
const { service } = served
afterAll(() => served[Symbol.asyncDispose]())
const client = await clientOf(service)

const actionOf = (name: string, of = client) => of[name] as ClientAction
const all = <T>(rows: AsyncIterable<T>): Promise<T[]> => Array.fromAsync(rows)

/** A client of a service, whose requests go through `change`. */
const clientThrough = (
  change: (response: () => Promise<Response>) => Promise<Response>,
  { of = service, ...settings }: Parameters<typeof clientOf>[1] & { readonly of?: typeof service } = {},
) =>
  clientOf(of, {
    fetch: (url, init) => change(() => of.ask(url.slice('http://inside'.length), init)),
    ...settings,
  })

test('client: every action is answered with the data of the service, with numbers as text', async () => {
  for (const action of actions) {
    const query = new URLSearchParams({ ...action.example, numbers: 'string' })
    const { data } = JSON.parse(await (await service.get(`${formatRoute(action)}?${query}`)).text())
    expect([action.action, await actionOf(operationId(action))(action.example)]).toEqual([action.action, data])
  }
})

test.each(lists.map(action => [operationId(action), action] as const))(
  'client: pages, rows and the whole list of %s are the same',
  async (name, { list = '', params, ...each }) => {
    const [action, given] = [actionOf(name), limitExample({ params, ...each })]
    const whole = await all(action.whole(given))
    if (params.properties['page'] === undefined)
      return expect(Reflect.get(Object(await action(given)), list)).toEqual(whole)
    // Several pages, but not hundreds for a long list.
    const size = Math.min(500, Math.max(1, Math.ceil(whole.length / 5)))
    const pages = await all(action.pages({ ...given, size }))
    expect(pages.map(({ page }) => page)).toEqual(pages.map((_page, at) => at + 1))
    expect(pages.flatMap(page => Reflect.get(page, list))).toEqual(whole)
    expect(await all(action.rows({ ...given, size }))).toEqual(whole)
    if (params.properties['sort'] !== undefined)
      expect(await all(action.rows({ ...given, sort: 'asc', size }))).toEqual(whole.toReversed())
  },
)

test('client: a whole list ends with its height and its number of rows', async () => {
  const whole = actionOf('getTokenHolder').whole({ token: 'iost' })
  let [rows, end] = [0, await whole.next()]
  for (; end.done !== true; end = await whole.next()) rows++
  expect([rows > 100, end.value]).toEqual([true, { rows, block_height: '4851' }])
})

test.each([
  ['before its last line', (text: string) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)],
  ['in its last line', (text: string) => text.slice(0, -8)],
  ['in a row', (text: string) => text.slice(0, text.indexOf('\n') + 9)],
  ['before its first line', () => ''],
])('client: a whole list that is cut off %s is an error', async (_name, cut) => {
  const broken = await clientThrough(async ask => new Response(cut(await (await ask()).text())))
  await expect(all(actionOf('getTokenHolder', broken).whole({ token: 'iost' }))).rejects.toThrow(
    /^The list broke off after \d+ rows\.$/,
  )
})

test('client: a refusal has the status, code, message and id of its request', async () => {
  const { IostlensError } = await clientModuleOf(service)
  const chinese = await clientOf(service, { lang: 'zh' })
  await expect(chinese['getAccountDetail']?.({ account: 'nobody_here' })).rejects.toMatchObject({
    name: IostlensError.name,
    message: expect.stringMatching(/nobody_here.*\p{Script=Han}|\p{Script=Han}.*nobody_here/u),
    status: 404,
    code: 4040,
    requestId: expect.stringMatching(/^[0-9a-f]{16}$/),
    retryAfter: undefined,
  })
})

test('client: an answer that is not from the service is reported as such', async () => {
  const behind = await clientThrough(async () => new Response('<h1>Bad Gateway</h1>', { status: 502 }))
  await expect(behind['getOverview']?.()).rejects.toMatchObject({ status: 502, code: 0, requestId: '' })
})

test('client: when a key exceeds its rate, the client waits for Retry-After and then returns the answer', async () => {
  const statuses: number[] = []
  const begun = Date.now()
  // However late the second one asks, it is too soon.
  const now = () => (statuses.includes(429) ? Date.now() : begun)
  const of = serviceOn(await loadedStore(), { plan: { perSecond: 1, perDay: 1_000 }, now })
  const note = async (ask: () => Promise<Response>) => {
    const response = await ask()
    statuses.push(response.status)
    return response
  }
  const waiting = await clientThrough(note, { of })
  const answers = await Promise.all([1, 2, 3].map(() => waiting['getOverview']?.()))
  expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1)
  expect(statuses.filter(status => status === 200)).toHaveLength(3)
  expect(statuses).toContain(429)
})

test('client: a Retry-After longer than the caller’s limit fails at once, with that time', async () => {
  const used = serviceOn(await loadedStore(), { plan: { perSecond: 1_000, perDay: 1 } })
  const asked = await clientOf(used)
  await asked['getOverview']?.()
  const late = { status: 429, code: 4290, retryAfter: expect.any(Number) }
  await expect(asked['getOverview']?.()).rejects.toMatchObject(late)
})

test('client: a network failure is retried a few times', async () => {
  for (const [retries, expected] of [
    [undefined, 2],
    [0, 1],
  ] as const) {
    let asked = 0
    const fail = async (ask: () => Promise<Response>) => {
      if (++asked === 1) throw new TypeError('The connection was closed.')
      return ask()
    }
    const shaky = await clientThrough(fail, retries === undefined ? {} : { retries })
    const answer = shaky['getOverview']?.()
    if (retries === 0) await expect(answer).rejects.toThrow('The connection was closed.')
    else expect(await answer).toMatchObject({ token_count: 28 })
    expect(asked).toBe(expected)
  }
})

test('client: a signal ends a request and a wait', async () => {
  const reason = new Error('no longer wanted')
  await expect(actionOf('getOverview')({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  const waiting = new AbortController()
  const away = await clientThrough(async () => {
    setTimeout(() => waiting.abort(reason))
    return new Response('{}', { status: 503, headers: { 'Retry-After': '59' } })
  })
  await expect(away['getOverview']?.({}, { signal: waiting.signal })).rejects.toBe(reason)
})

const CALLS = actions.map(action => [operationId(action), action.example])

/** The sequence numbers of the rows of busyhub's list that are followed. */
const SEQS = [100, 101, 102, 103, 104]

/** A plain JavaScript program: calls every action, reads a list in three ways, follows it, and gets one refusal. */
const programFor = (module: string): string => `(async () => {
  const { createClient } = await import(${JSON.stringify(module)})
  const settings = ${JSON.stringify({ url: served.url, key: service.key })}
  const client = createClient(settings)
  const answered = []
  for (const [name, params] of ${JSON.stringify(CALLS)}) if (await client[name](params)) answered.push(name)
  const first = async (rows, of, most = Infinity) => {
    const read = []
    for await (const row of rows) if (read.push(of(row)) === most) break
    return read
  }
  const count = async rows => (await first(rows, row => row)).length
  const counts = [
    await count(client.getTokenHolder.rows({ token: 'iost' })),
    await count(client.getTokenHolder.whole({ token: 'iost' })),
    (await client.getTokenHolder({ token: 'iost', size: 1 })).total,
  ]
  // A connection that closes after its first row.
  let connections = 0
  const fetchCut = async (url, init) => {
    const response = await fetch(url, init)
    connections++
    if (connections > 1) return response
    const reader = response.body.getReader()
    let text = ''
    while (!/^data: .*\\n\\n/m.test(text)) text += new TextDecoder().decode((await reader.read()).value)
    await reader.cancel()
    return new Response(text.slice(0, text.indexOf('\\n\\n', text.indexOf('data: ')) + 2), response)
  }
  const broken = createClient({ ...settings, fetch: fetchCut })
  const from = { account: 'busyhub', start_seq: ${SEQS[0]} }
  const followed = [
    await first(broken.getAccountTx.follow(from), ({ seq }) => seq, ${SEQS.length}),
    await first(client.getAccountTx.followHead(from), ({ event, row }) => event + row.seq, ${SEQS.length}),
  ]
  const before = connections
  connections = 0
  const search = { account: 'busyhub,user_001', direction: 'in', start_block: 0 }
  const searched = [
    await first(broken.getAccountTx.follow(search), ({ id }) => id, ${SEQS.length}),
    await first(client.getAccountTx.whole({ ...search, sort: 'asc' }), ({ id }) => id, ${SEQS.length}),
  ]
  const { code, requestId } = await client.getAccountDetail({ account: 'nobody_here' }).catch(error => error)
  return JSON.stringify({ answered, counts, followed, searched, before, connections, code, requestId })
})()`

function expectWhole(said: string): void {
  const { counts, followed, searched, ...rest } = JSON.parse(said)
  expect(followed).toEqual([SEQS, SEQS.map(seq => `irreversible${seq}`)])
  expect([searched[0], searched[0].length]).toEqual([searched[1], SEQS.length])
  expect([counts[0] > 100, new Set(counts).size]).toEqual([true, 1])
  const answered = CALLS.map(([name]) => name)
  expect(rest).toEqual({ answered, before: 2, connections: 2, code: 4040, requestId: expect.stringMatching(/./) })
}

test('client: all calls work in Node', async () => {
  const module = join(served.folder, 'client.mjs')
  await Bun.write(module, await (await service.ask('/client.js')).text())
  const program = join(served.folder, 'program.mjs')
  await Bun.write(program, `console.log(await ${programFor(module)})`)
  expectWhole(await runTool(['node', program]))
})

test('client: all calls work in a page of another origin', async () => {
  // The page is on another port, so the browser sends CORS preflight requests to the service.
  const headers = { 'Content-Type': 'text/html' }
  const fetch = () => new Response('<!doctype html><link rel="icon" href="data:,">', { headers })
  using page = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })
  const opened = await (await shareBrowser()).open()
  await opened.go(String(page.url))
  expectWhole(await opened.run<string>(programFor(`${served.url}/client.js`)))
  // The browser itself logs the one refused answer.
  expect(opened.said.filter(line => !line.includes('404'))).toEqual([])
  await opened.close()
})
