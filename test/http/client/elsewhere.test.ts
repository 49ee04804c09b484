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
  const client = createClient(${JSON.stringify({ url: served.url, key: served.service.key })})
  const answered = []
  for (const [name, params] of ${JSON.stringify(CALLS)}) if (await client[name](params)) answered.push(name)
  const count = async rows => {
    let length = 0
    for await (const row of rows) length++
    return length
  }
  const { total } = await client.getTokenHolder({ token: 'iost', size: 1 })
  const counts = [
    await count(client.getTokenHolder.rows({ token: 'iost' })),
    await count(client.getTokenHolder.whole({ token: 'iost' })),
    await count(client.getSubaccountList.rows({ account: 'admin', size: 20 })),
  ]
  // A connection that closes after its first row.
  let connections = 0
  const broken = createClient({
    ...${JSON.stringify({ url: served.url, key: served.service.key })},
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      connections++
      if (connections > 1) return response
      const reader = response.body.getReader()
      let text = ''
      while (!/^data: .*\\n\\n/m.test(text)) text += new TextDecoder().decode((await reader.read()).value)
      await reader.cancel()
      return new Response(text.slice(0, text.indexOf('\\n\\n', text.indexOf('data: ')) + 2), response)
    },
  })
  const search = { account: 'busyhub,user_001', direction: 'in', start_block: 0 }
  const first = async (rows, of) => {
    const read = []
    for await (const row of rows) if (read.push(of(row)) === ${FOLLOWED}) return read
  }
  const from = { account: 'busyhub', start_seq: ${START} }
  const followed = [
    await first(broken.getAccountTx.follow(from), ({ seq }) => seq),
    await first(client.getAccountTx.followHead(from), ({ event, row }) => event + row.seq),
  ]
  const before = connections
  connections = 0
  const searched = [
    await first(broken.getAccountTx.follow(search), ({ id }) => id),
    await first(client.getAccountTx.whole({ ...search, sort: 'asc' }), ({ id }) => id),
  ]
  const { code, requestId } = await client.getAccountDetail({ account: 'nobody_here' }).catch(error => error)
  return JSON.stringify({ answered, total, counts, followed, searched, before, connections, code, isNamed: requestId.length > 0 })
})()`

async function expectWhole(said: string): Promise<void> {
  const subaccounts = await served.service.ask('/api/account/get-subaccount-list?account=admin&size=1', {
    headers: { 'x-api-key': served.service.key },
  })
  const { data } = (await subaccounts.json()) as { readonly data: { readonly total: number } }
  const { total, counts, followed, searched, ...rest } = JSON.parse(said)
  const seqs = Array.from({ length: FOLLOWED }, (_, at) => START + at)
  expect(followed).toEqual([seqs, seqs.map(seq => `irreversible${seq}`)])
  expect(searched[0]).toEqual(searched[1])
  expect(searched[0]).toHaveLength(FOLLOWED)
  expect(total).toBeGreaterThan(100)
  expect(counts).toEqual([total, total, data.total])
  expect(rest).toEqual({
    answered: CALLS.map(([name]) => name),
    before: 2,
    connections: 2,
    code: 4040,
    isNamed: true,
  })
}

test('client: all calls work in Node', async () => {
  const module = join(served.folder, 'client.mjs')
  await Bun.write(module, await (await served.service.ask('/client.js')).text())
  const program = join(served.folder, 'program.mjs')
  await Bun.write(program, `console.log(await ${programFor(module)})`)
  await expectWhole(await runTool(['node', program]))
})

test('client: all calls work in a page of another origin', async () => {
  // The page is on another port, so the browser sends CORS preflight requests to the service.
  using page = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response('<!doctype html><link rel="icon" href="data:,">', {
        headers: { 'Content-Type': 'text/html' },
      }),
  })
  const opened = await (await shareBrowser()).open()
  await opened.go(String(page.url))
  await expectWhole(await opened.run<string>(programFor(`${served.url}/client.js`)))
  // The browser itself logs the one refused answer.
  expect(opened.said.filter(line => !line.includes('404'))).toEqual([])
  await opened.close()
})
