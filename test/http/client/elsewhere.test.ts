import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { actions } from '#actions/registry.ts'
import { operationId } from '#http/openapi/action-operation.ts'
import { shareBrowser } from '../../support/browser/browser.ts'
import { runTool } from '../../support/processes/run-tool.ts'
import { type Served, serveForGenerators } from '../generators/served.ts'

let served: Served
beforeAll(async () => {
  served = await serveForGenerators()
})
afterAll(async () => served[Symbol.asyncDispose]())

const CALLS = actions.map(action => [operationId(action), action.example])

/** The start of the feed of busyhub's list, and the number of rows to read. */
const START = 100
const FOLLOWED = 5

/** A plain JavaScript program: calls every action, reads a list in three ways, follows it, and gets one refusal. */
const programFor = (module: string): string => `(async () => {
  const { createClient } = await import(${JSON.stringify(module)})
  const settings = ${JSON.stringify({ url: served.url, key: served.service.key })}
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
    await count(client.getSubaccountList.rows({ account: 'admin', size: 20 })),
  ]
  const totals = [
    (await client.getTokenHolder({ token: 'iost', size: 1 })).total,
    (await client.getSubaccountList({ account: 'admin', size: 1 })).total,
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
  const from = { account: 'busyhub', start_seq: ${START} }
  const followed = [
    await first(broken.getAccountTx.follow(from), ({ seq }) => seq, ${FOLLOWED}),
    await first(client.getAccountTx.followHead(from), ({ event, row }) => event + row.seq, ${FOLLOWED}),
  ]
  const before = connections
  connections = 0
  const search = { account: 'busyhub,user_001', direction: 'in', start_block: 0 }
  const searched = [
    await first(broken.getAccountTx.follow(search), ({ id }) => id, ${FOLLOWED}),
    await first(client.getAccountTx.whole({ ...search, sort: 'asc' }), ({ id }) => id, ${FOLLOWED}),
  ]
  const { code, requestId } = await client.getAccountDetail({ account: 'nobody_here' }).catch(error => error)
  return JSON.stringify({ answered, totals, counts, followed, searched, before, connections, code, requestId })
})()`

function expectWhole(said: string): void {
  const { totals, counts, followed, searched, ...rest } = JSON.parse(said)
  const seqs = Array.from({ length: FOLLOWED }, (_, at) => START + at)
  expect(followed).toEqual([seqs, seqs.map(seq => `irreversible${seq}`)])
  expect([searched[0], searched[0].length]).toEqual([searched[1], FOLLOWED])
  expect([totals[0] > 100, counts]).toEqual([true, [totals[0], ...totals]])
  expect(rest).toEqual({
    answered: CALLS.map(([name]) => name),
    before: 2,
    connections: 2,
    code: 4040,
    requestId: expect.stringMatching(/./),
  })
}

test('client: all calls work in Node', async () => {
  const module = join(served.folder, 'client.mjs')
  await Bun.write(module, await (await served.service.ask('/client.js')).text())
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
