import { expect, test } from 'bun:test'
import { type Fault, startFaultyNode } from '#test/support/nodes/faulty-node.ts'
import { seen } from '#test/support/wait.ts'
import { readExposition } from '../support/exposition.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { addKey, expectEnd, stop } from './folder.ts'

const TO = 120

async function scraped(url: string) {
  const response = await fetch(`${url}/metrics`, { keepalive: false })
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  return readExposition(await response.text())
}

/** The metrics once they match: values that are measured every second may be late. */
const measured = (url: string, fits: (read: Awaited<ReturnType<typeof scraped>>) => boolean) =>
  seen(() => scraped(url), fits, 50)

test('up: /metrics is exact, and reports the loaded height and a missing node', async () => {
  let fault: Fault = () => undefined
  await using node = await startFaultyNode((asked, truth) => fault(asked, truth), TO)
  await using folder = await cliFolder()
  const key = await addKey(folder)
  const up = folder.start(['up', '--node', node.url, '--listen', '127.0.0.1:0'])
  const url = await up.firstLine
  await up.says('Loaded up to block')
  const ask = async (query: string): Promise<number> => {
    const response = await fetch(`${url}/api/?${query}`, { keepalive: false })
    await response.arrayBuffer()
    return response.status
  }
  const good = `module=base&action=get-overview&apikey=${key}`
  const asked = [
    ...Array(20).fill(good),
    ...Array(7).fill(`module=base&action=__proto__&apikey=${key}`),
    ...Array(5).fill(`module=block&action=get-overview&apikey=${key}`),
    ...Array(3).fill('module=base&action=get-overview&apikey=wrong'),
  ]
  const statuses = await Promise.all(asked.map(ask))
  // If the node answers a probe late, the metrics report no node for a second.
  const { sum, value, samples } = await measured(url, read => read.value('iostlens_node_reachable') === 1)
  expect(statuses.filter(status => status === 200)).toHaveLength(20)
  for (const [name, labels, count] of [
    ['http_requests_total', { route: 'api', module: 'base', action: 'get-overview', status: '200' }, 20],
    ['http_requests_total', { route: 'api', status: '400' }, 12],
    ['http_requests_total', { route: 'api', status: '401' }, 3],
    ['http_request_duration_seconds_count', { route: 'api' }, 35],
    ['http_refusals_total', { reason: 'bad_request' }, 12],
    ['http_refusals_total', { reason: 'unauthorized' }, 3],
  ] as const)
    expect([name, labels, sum(`iostlens_${name}`, labels)]).toEqual([name, labels, count] as never)
  expect(samples.flatMap(({ labels }) => [...labels.values()]).filter(text => text.includes('proto'))).toEqual([])

  for (let times = 0; times < 3; times++) await ask(`module=base&action=get-wealth-list&apikey=${key}`)
  const { sum: later } = await scraped(url)
  expect([later('iostlens_answers_total'), later('iostlens_answers_total', { source: 'joined' })]).toEqual([3, 0])

  const figures = {
    ...{ load_blocks_total: TO + 1, published_height: TO, behind_blocks: 0, behind_seconds: 0, node_reachable: 1 },
    ...{ node_irreversible_height: TO, exports_open: 0, feeds_open: 0, live_pages_open: 0, downloads_open: 0 },
  }
  for (const [name, figure] of Object.entries(figures))
    expect([name, value(`iostlens_${name}`)]).toEqual([name, figure])
  const batches = value('iostlens_load_batches_total') ?? -1
  expect(sum('iostlens_store_calls_total', { call: 'commit', outcome: 'ok' })).toBe(batches)
  expect(sum('iostlens_load_rows_total', { kind: 'transaction' })).toBeGreaterThan(0)
  for (const stage of ['fetch', 'derive', 'state', 'commit'])
    expect([stage, sum('iostlens_load_stage_seconds_total', { stage }) > 0]).toEqual([stage, true])
  expect(sum('iostlens_node_calls_total', { call: 'getChainInfo', outcome: 'ok' })).toBeGreaterThan(0)
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)

  fault = () => new Response('busy', { status: 503 })
  const gone = await measured(url, read => read.value('iostlens_node_reachable') === 0)
  for (const name of ['behind_blocks', 'node_head_height']) expect(gone.value(`iostlens_${name}`)).toBeUndefined()
  expect(gone.value('iostlens_node_heard_timestamp_seconds')).toBeGreaterThan(0)
  expect(gone.sum('iostlens_node_calls_total', { outcome: 'trouble' })).toBeGreaterThan(0)
  const late = await measured(url, read => read.sum('iostlens_event_loop_delay_seconds_count') > 0)
  expect(late.value('iostlens_published_height')).toBe(TO)
  await stop(up)
})

test('load --metrics-listen: a load has its own metrics, and an API with this option has none on its own address', async () => {
  await using node = await startFaultyNode(undefined, 50)
  await using folder = await cliFolder()
  const load = folder.start(['load', '--node', node.url, '--metrics-listen', '127.0.0.1:0'])
  await load.logs('Serving metrics.')
  const url = /url=(http:\/\/\S+)\/metrics/.exec(load.logged())?.[1] ?? ''
  const loaded = await measured(url, read => read.value('iostlens_published_height') === 50)
  expect(loaded.value('iostlens_load_blocks_total')).toBe(51)
  await stop(load)

  const serve = folder.start(['serve', '--listen', '127.0.0.1:0', '--metrics-listen', '127.0.0.1:0'])
  const api = await serve.firstLine
  expect((await fetch(`${api}/metrics`)).status).toBe(404)
  await serve.logs('Serving metrics.')
  const own = /url=(http:\/\/\S+)\/metrics/.exec(serve.logged())?.[1] ?? ''
  const served = await scraped(own)
  expect([served.value('iostlens_node_configured'), served.value('iostlens_behind_blocks')]).toEqual([0, undefined])
  expect(served.sum('iostlens_http_requests_total', { route: 'unknown', status: '404' })).toBe(1)
  expect((await fetch(`${own}/api/`)).status).toBe(404)
  const taken = ['serve', '--listen', '127.0.0.1:0', '--metrics-listen', own.slice('http://'.length)]
  await expectEnd(folder, taken, 2, '--metrics-listen')
  await stop(serve)
})
