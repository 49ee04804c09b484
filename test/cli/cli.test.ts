import { expect, test } from 'bun:test'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Fault, startFaultyNode } from '#test/support/nodes/faulty-node.ts'
import { seen } from '#test/support/wait.ts'
import { readExposition } from '../support/exposition.ts'
import { cliFolder, PATH } from '../support/processes/cli-process.ts'
import { ROOT } from '../support/root.ts'
import { replayed } from '../support/stores/loading.ts'
import { addKey, damage, expectEnd, stop, storeIn } from './folder.ts'

test('cli: answers go to stdout, errors to stderr, and the exit code distinguishes them', async () => {
  await using folder = await cliFolder()
  const [fine, wrong] = await Promise.all([folder.run(['--help']), folder.run(['lod'])])
  expect([fine.code, fine.err, fine.out.startsWith('iostlens loads')]).toEqual([0, '', true])
  expect(wrong).toEqual({
    code: 2,
    out: '',
    err: "iostlens: Unknown command 'lod'; the nearest one is 'load'.\n  'iostlens --help' lists the commands.\n",
  })
})

test('cli: a closed output pipe is no error', async () => {
  await using folder = await cliFolder()
  const main = join(ROOT, 'src/main.ts')
  const pipe = `set -o pipefail; "${process.execPath}" "${main}" indices print --store http://127.0.0.1:1/x | head -n 1`
  const child = Bun.spawn(['bash', '-c', pipe], { cwd: folder.path, env: { PATH } })
  expect([await new Response(child.stdout).text(), await child.exited]).toEqual(['{\n', 0])
})

test('indices: check names missing indices, create adds them, another mapping stops every command', async () => {
  await using folder = await cliFolder()
  await expectEnd(folder, ['indices', 'check'], 3, 'blocks: missing: ')
  for (const command of ['create', 'create', 'check']) expect((await folder.run(['indices', command])).code).toBe(0)
  await expectEnd(folder, ['indices', 'merge'], 0, 'iostlens.sqlite keeps its history in one piece; there is')
  damage(folder, 'ALTER TABLE "tokens" ADD COLUMN "colour" TEXT')
  await expectEnd(folder, ['indices', 'check'], 3, /^tokens: different: .*colour/m)

  const commands = [
    ['up', '--node', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0'],
    ['load', '--node', 'http://127.0.0.1:1', '--once'],
    ['serve', '--listen', '127.0.0.1:0'],
    ['keys', 'add', 'x'],
    ['keys', 'list'],
    ['keys', 'revoke', 'x'],
    ['indices', 'create'],
    ['status'],
  ]
  const err = expect.stringMatching(/tokens.*iostlens indices check/s)
  for (const command of commands)
    expect([command, await folder.run(command)]).toEqual([command, { code: 3, out: '', err }])
})

test('load: two runs continue each other, and status reports the progress', async () => {
  await using folder = await cliFolder()
  await expectEnd(folder, ['status'], 2, 'does not exist')
  expect((await folder.run(['indices', 'create'])).code).toBe(0)
  expect(await folder.run(['status'])).toMatchObject({ code: 75, err: '' })
  await expectEnd(folder, ['verify'], 75, 'nothing is loaded yet')
  await using node = await replayed(200)
  const byNode = ['--node', node.url]

  expect(await folder.run(['load', ...byNode, '--to', '120'])).toMatchObject({
    code: 0,
    out: 'Loaded up to block 120.\n',
  })
  const between = await expectEnd(folder, ['status', ...byNode], 0, /^height +120, /m)
  expect(between).toMatch(/^behind +80 blocks; the last irreversible block is 200$/m)

  const second = await folder.run(['load', '--once', '--log-format', 'json'], { IOSTLENS_NODE: node.url })
  expect([second.code, second.out]).toEqual([0, 'Loaded up to block 200.\n'])
  for (const line of second.err.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('message')
  const after = await expectEnd(folder, ['status', '--all', ...byNode], 0, /^whole +yes$/m)
  expect(after).toMatch(/^checked +201 of 201 blocks, 1 transactions$/m)
  expect(after).toMatch(/^proved +blocks 0 to 200: signed$/m)
  const told = await folder.run(['status', '--json'])
  const ranges = [{ from: 0, to: 200, level: 'signed', agreed: false }]
  expect([told.code, JSON.parse(told.out)]).toMatchObject([
    0,
    { height: 200, behind: 0, whole: true, proved: { ranges, lost_receipts: 0 } },
  ])

  damage(folder, 'DELETE FROM "blocks" WHERE "height" = 77')
  expect(await expectEnd(folder, ['status'], 3, 'block 77 is missing')).toMatch(/^whole +NO$/m)
})

test('up: loads, serves, prints examples that work, and continues after a restart', async () => {
  await using folder = await cliFolder()
  await using node = await replayed(150)
  const start = async () => {
    const service = folder.start(['up', '--node', node.url, '--listen', '127.0.0.1:0', '--test-key', 'try-it'])
    const url = await service.firstLine
    await service.says('/docs/en\n')
    return { service, url, said: service.said() }
  }
  const first = await start()
  expect(first.said).toContain('Loaded up to block 150, the last irreversible block.')
  expect(first.said).toContain('Shared test key: try-it\n')
  const examples = first.said.match(/(?<=^ {2})http\S+/gm) ?? []
  expect(examples).toContain(`${first.url}/api/?module=base&action=get-overview&apikey=try-it`)
  expect(examples.length).toBe(7)
  // The shared key has too low a limit for all examples at once.
  const key = await addKey(folder)
  const calls = [examples[0] ?? '', ...examples.map(example => example.replace('try-it', key))]
  for (const call of calls) expect([call, (await fetch(call)).status]).toEqual([call, 200])
  expect(await stop(first.service, 'SIGINT')).not.toContain('try-it')
  const second = await start()
  expect(second.said).toContain('Loaded up to block 150, the last irreversible block.')
  await stop(second.service, 'SIGINT')
})

/** The part of the chain that is loaded while two copies are made. */
const LOADED = 700

test('backup: copies of a store during load and service are whole; a restored copy is loaded further and verified', async () => {
  await using folder = await cliFolder()
  await using node = await replayed(LOADED)
  const key = await addKey(folder)
  const up = folder.start(['up', '--node', node.url, '--listen', '127.0.0.1:0', '--prove', 'linked'])
  await up.firstLine
  // The chain is being loaded from its first to its last block. The first copies may find nothing loaded yet.
  const copies: string[] = []
  for (let number = 0; copies.length < 2; number++) {
    const { code, out, err } = await folder.run(['backup', `copy-${number}.sqlite`])
    if (code === 75) expect(err).toContain('nothing is loaded yet')
    else {
      expect([code, out]).toEqual([0, expect.stringMatching(/at height \d+ to copy-\d+\.sqlite: \d+ bytes, checked/)])
      copies.push(`copy-${number}.sqlite`)
    }
  }
  await up.logs('Loaded blocks.')
  await stop(up)
  await expectEnd(folder, ['backup', 'nowhere/copy.sqlite'], 2, 'does not exist')
  for (const copy of copies) {
    const { code, err } = await folder.run(['status', '--all', '--node', node.url, '--store', `sqlite:${copy}`])
    expect([copy, code, err]).toEqual([copy, 0, ''])
  }

  for (const end of ['', '-wal', '-shm']) await rm(`${storeIn(folder)}${end}`, { force: true })
  await rename(join(folder.path, copies[0] ?? ''), storeIn(folder))
  await expectEnd(folder, ['load', '--node', node.url, '--once'], 0, `Loaded up to block ${LOADED}.\n`)
  expect(await folder.run(['verify', '--node', node.url])).toMatchObject({ code: 0 })
  const serving = folder.start(['serve', '--listen', '127.0.0.1:0'])
  const response = await fetch(`${await serving.firstLine}/api/base/get-overview`, { headers: { 'x-api-key': key } })
  expect([response.status, response.headers.get('x-block-height')]).toEqual([200, String(LOADED)])
})

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
