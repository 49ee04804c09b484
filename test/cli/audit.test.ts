import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { parseKeys } from '#transfer/keys.ts'
import { startFaultyNode } from '../support/nodes/faulty-node.ts'
import { forkedChain } from '../support/nodes/forked.ts'
import { json } from '../support/nodes/read-blocks.ts'
import { cliFolder, type Outcome } from '../support/processes/cli-process.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { ARCHIVED, replayed } from '../support/stores/loading.ts'
import { until } from '../support/wait.ts'
import { addKey, damage, expectEnd, loadedFolder, stop, storeIn } from './folder.ts'

const HEIGHT = 150

test('verify, repair: differences are named, shown by a dry run, repaired, and nothing is left behind', async () => {
  const node = await replayed(HEIGHT)
  await using folder = await loadedFolder(HEIGHT)
  await addKey(folder)
  const whole =
    /^proved when loaded: blocks 0 to 150: signed\nsqlite:data\/iostlens\.sqlite at block 150, \S+: whole\n$/
  await expectEnd(folder, ['verify'], 0, whole)

  damage(folder, "UPDATE lists SET count = count + 1 WHERE id = 'account/admin'")
  const finding = /^lists account\/admin count: stored \d+ expected \d+\nlists count: 1 in all\n/
  const found = await expectEnd(folder, ['verify'], 3, finding)
  expect(found).toEndWith(": NOT WHOLE, 1 differences. Run: 'iostlens repair'\n")

  await expectEnd(folder, ['repair', '--dry-run'], 3, '1 differences would be repaired, nothing was')

  // A loader in this process certainly holds the store.
  const store = openSqlite({ path: storeIn(folder) })
  const identity = await store.identity()
  const writer = identity === undefined ? undefined : await store.takeOver(identity)
  await expectEnd(folder, ['repair'], 75, 'Another loader is writing')
  await writer?.release()
  await store.close()

  // A folder that a killed repair left behind is removed by the next one.
  await mkdir(join(folder.path, 'data/audit-killed'))
  const repaired = await folder.run(['repair', '--json'])
  const { whole: isWhole, totals } = JSON.parse((await folder.run(['verify', '--json'])).out)
  expect([repaired.code, isWhole, totals]).toEqual([0, true, {}])

  damage(folder, 'DELETE FROM blocks WHERE height = 70; DELETE FROM transactions WHERE height = 0')
  await expectEnd(folder, ['verify'], 3, "Run: 'iostlens repair --node URL'\n")
  const alone = await folder.run(['repair', '--json'])
  expect([alone.code, JSON.parse(alone.out)]).toMatchObject([3, { complete: false, totals: { 'blocks document': 2 } }])
  const byNode = ['--node', node.url]
  await expectEnd(folder, ['verify', ...byNode], 3, `2 differences. Run: 'iostlens repair --node ${node.url}'\n`)
  expect((await folder.run(['repair', ...byNode])).code).toBe(0)
  damage(folder, "UPDATE meta SET value = json_set(value, '$.height', 151) WHERE key = 'published'")
  await expectEnd(folder, ['verify', ...byNode], 75, `run: 'iostlens repair --node ${node.url}'.\n`)
  expect((await folder.run(['repair', ...byNode])).code).toBe(0)
  expect((await folder.run(['verify', ...byNode])).code).toBe(0)
  await expectEnd(folder, ['keys', 'list'], 0, 'wallet')
  expect((await readdir(join(folder.path, 'data'))).filter(name => name.startsWith('audit-'))).toEqual([])

  await node.stop()
  expect((await folder.run(['verify', ...byNode, '--node-timeout', '200ms'])).code).toBe(75)
})

test("verify: names false values in the store's published record and identity", async () => {
  await using folder = await loadedFolder(HEIGHT)
  const set = (key: string, field: string, value: number): void =>
    damage(folder, `UPDATE meta SET value = json_set(value, '$.${field}', ${value}) WHERE key = '${key}'`)
  set('published', 'lib', HEIGHT + 100)
  expect((await folder.run(['verify'])).code).toBe(0)
  set('published', 'lib', 1e15)
  await expectEnd(folder, ['verify'], 3, /^published 150 lib: stored/m)
  set('identity', 'chainId', 7)
  await expectEnd(folder, ['verify'], 3, 'identity genesis chain_id: stored 7 expected 1020')
})

/** The last blocks up to here have transactions. Those of the forked chain have different ones. */
const FORKED = 759

test('load, repair: a store with another end of the chain is refused with the command that undoes it', async () => {
  const node = await replayed(FORKED)
  await using folder = await cliFolder()
  const store = openSqlite({ path: storeIn(folder) })
  const forked = await forkedChain(FORKED, 2)
  // The batch with the orphans also contains correct blocks.
  const ends = [0, 700, 750, FORKED + 1]
  const runs = ends.slice(1).map((to, at) => forked.slice(ends[at], to))
  await commitRuns(store, runs, { lib: FORKED })
  await store.close()
  const load = ['load', '--once', '--node', node.url, '--prove', 'linked']
  await expectEnd(folder, load, 3, `iostlens repair --node ${node.url}`)
  const undone = / at block 749, \S+: the batches of blocks 750 to 759 were undone; no document was checked/
  await expectEnd(folder, ['repair', '--node', node.url], 0, undone)
  expect((await folder.run(load)).code).toBe(0)
  expect((await folder.run(['verify', '--node', node.url])).code).toBe(0)
  await node.stop()
})

/** The last height loaded at level `linked`, and the last one at level `signed`. */
const [LINKED, SIGNED] = [60, 120]

test('verify, repair: without --prove, each block is checked against the node at the level at which it was loaded', async () => {
  let signed = SIGNED + 1
  // The node returns no signatures of blocks below `signed`, and no raw blocks.
  await using node = await startFaultyNode(async ({ path, body }, truth) => {
    if (path.startsWith('/getRawBlockByNumber/'))
      return new Response('{"code":12,"message":"Not Implemented"}', { status: 400 })
    if (path !== '/getBlockHeaderByRange') return undefined
    let { start: height } = JSON.parse(body) as { start: number }
    const unsigned = '"sign":{"algorithm":0, "sig":"", "pubKey":""}'
    return json((await truth()).replace(/"sign":\{[^}]*\}/g, sign => (height++ < signed ? unsigned : sign)))
  }, LINKED)
  await using folder = await cliFolder()
  const load = (...args: readonly string[]) => folder.run(['load', '--once', '--node', node.url, ...args])
  const verify = (...args: readonly string[]) => folder.run(['verify', '--node', node.url, '--sample', '1000', ...args])

  expect((await load('--prove', 'linked')).code).toBe(0)

  // The next blocks are loaded with signatures, and must be verified with them.
  signed = LINKED + 1
  node.setHeight(SIGNED)
  expect((await load()).code).toBe(0)
  const proved = `blocks 0 to ${LINKED}: linked\nproved when loaded: blocks 61 to 120: signed\n`
  expect(await verify()).toMatchObject({ code: 0, out: expect.stringContaining(proved) })

  damage(folder, 'DELETE FROM blocks WHERE height IN (30, 90)')
  await expectEnd(folder, ['repair', '--node', node.url], 0, '0 are left')

  // A missing proof is reported as a fault of the node. No stored block is reported as damaged.
  signed = SIGNED + 1
  for (const failed of [await verify(), await verify('--prove', 'signed')]) {
    const err = expect.stringMatching(/no signature[\s\S]*Use a node that returns signatures\./)
    expect(failed).toEqual({ code: 3, out: '', err })
  }
  expect((await verify('--prove', 'linked')).code).toBe(0)
})

/** A damaged store, mended with nothing but the commands that the program itself names. */

const LOADED = 400
const NAMES = ['wallet', 'exchange', 'explorer']

/** The commands that a text names in quotes; the words URL, PATH and FILE are for the operator to replace. */
const commandsIn = (text: string, given: Readonly<Record<string, string>>): readonly (readonly string[])[] =>
  [...text.matchAll(/'iostlens ([^']+)'/g)].map(([, words = '']) =>
    words.split(' ').map(word => word.replace(/\b(?:URL|PATH|FILE)\b/, name => given[name] ?? name)),
  )

/** Destroys bytes in the middle of a file, as a faulty disk does. */
function destroyMiddle(path: string): void {
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0xff, Math.floor(bytes.length / 2), Math.floor(bytes.length * 0.75)))
}

const QUERIES = [
  'base/get-block-list?size=50',
  'account/get-account-tx?account=admin&size=50',
  'token/get-token-tx?token=iost&size=50',
  'base/get-wealth-list?size=50',
] as const

/** What a service on the store says of damage that its answers meet. */
async function sayServed(folder: Awaited<ReturnType<typeof cliFolder>>, key: string) {
  const serving = folder.start(['serve', '--listen', '127.0.0.1:0'])
  const url = await serving.firstLine
  const statuses = new Set<number>()
  for (const query of QUERIES)
    for (let page = 1; page <= 10; page++) {
      const response = await fetch(`${url}/api/${query}&page=${page}`, { headers: { 'x-api-key': key } })
      statuses.add(response.status)
      await response.text()
    }
  const ready = await fetch(`${url}/ready`)
  const found = { status: ready.status, whole: ((await ready.json()) as { readonly whole: boolean }).whole }
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return { statuses, ready: found, metrics, err: await stop(serving) }
}

test('a damaged file: what the program says leads to a whole store with all API keys', async () => {
  await using folder = await loadedFolder(LOADED)
  await using node = await replayed(LOADED)
  const keys: string[] = []
  for (const _ of NAMES) keys.push(await addKey(folder))
  const before = (await folder.run(['keys', 'list', '--json'])).out
  damage(folder, 'PRAGMA wal_checkpoint(TRUNCATE)')
  destroyMiddle(storeIn(folder))

  const served = await sayServed(folder, keys[0] ?? '')
  expect([...served.statuses].toSorted()).toEqual([200, 503])
  expect(served.ready).toEqual({ status: 200, whole: false })
  expect(served.metrics).toMatch(/^iostlens_store_damage_met [1-9]/m)
  expect(served.metrics).toMatch(/^iostlens_store_readable 0$/m)
  const told = await folder.run(['status', '--all', '--node', node.url])
  expect(told.code).toBe(3)
  // Each of them leads to the remedy for damaged files, at once or by the command that it names.
  const given = { URL: node.url, PATH: join(folder.path, 'new.sqlite'), FILE: join(folder.path, 'keys.ndjson') }
  const followed = async (text: string): Promise<string> => {
    const [remedy] = /The file itself is damaged, which.*? the other one\./.exec(text) ?? []
    if (remedy !== undefined) return remedy
    const [repair = []] = commandsIn(text, given).filter(([name]) => name === 'repair')
    const { code, err } = await folder.run(repair)
    expect([repair, code]).toEqual([['repair', '--node', node.url], 3])
    return followed(err)
  }
  const remedy = await followed(served.err)
  expect(await followed(told.out + told.err)).toBe(remedy)

  const [restore, load = [], save = [], add = []] = commandsIn(remedy, given)
  const found = [restore, load, save, add].map(words => words?.slice(0, 2).join(' '))
  expect(found).toEqual(['restore', expect.stringMatching(/^load /), 'keys export', 'keys import'])
  const loading = folder.start(load)
  await loading.logs(`Loaded blocks. height=${LOADED}`)
  await stop(loading)
  const other = ['--store', `sqlite:${given.PATH}`]
  expect(await folder.run(save)).toMatchObject({ code: 0, out: expect.stringContaining(`${NAMES.length} API keys`) })
  expect(parseKeys(readFileSync(given.FILE, 'utf8'), given.FILE).isWhole).toBe(true)
  expect((await folder.run([...add, ...other])).code).toBe(0)
  expect((await folder.run(['keys', 'list', '--json', ...other])).out).toBe(before)
  expect((await folder.run(['verify', '--node', node.url, ...other])).code).toBe(0)
  const serving = folder.start(['serve', '--listen', '127.0.0.1:0', ...other])
  const url = await serving.firstLine
  for (const key of keys)
    expect((await fetch(`${url}/api/${QUERIES[0]}`, { headers: { 'x-api-key': key } })).status).toBe(200)
  expect(await (await fetch(`${url}/ready`)).json()).toMatchObject({ ready: true, whole: true, height: LOADED })
}, 120_000)

test.skipIf(elasticsearchUrl() === undefined)(
  'a deleted index: the repair that the program names mends it',
  async () => {
    await using elastic = openTestElastic()
    const { url, prefix } = elastic
    await using folder = await cliFolder()
    const store = { IOSTLENS_STORE: `${url}/${prefix}`, IOSTLENS_NODE: ARCHIVED }
    const run = (...args: readonly string[]): Promise<Outcome> => folder.run(args, store)
    for (const name of NAMES) expect((await run('keys', 'add', name)).code).toBe(0)
    expect((await run('load', '--once', '--to', '150')).code).toBe(0)
    const before = (await run('keys', 'list', '--json')).out
    const [index] = Object.keys(await ask<object>('GET', `${url}/${prefix}-state`))
    await ask('DELETE', `${url}/${index}`)
    const told = await Promise.all([run('status', '--all'), run('doctor')])
    for (const { code, out, err } of told)
      expect([code, commandsIn(out + err, {}).map(([name]) => name)]).toEqual([3, expect.arrayContaining(['repair'])])
    const serving = folder.start(['serve', '--listen', '127.0.0.1:0'], store)
    const served = await serving.firstLine
    await until(async () => (await fetch(`${served}/ready`)).status === 503)
    const out = expect.stringMatching(/[1-9]\d* differences were repaired, 0 are left/)
    expect(await run('repair')).toMatchObject({ code: 0, out })
    await until(async () => (await fetch(`${served}/ready`)).status === 200)
    expect(await (await fetch(`${served}/ready`)).json()).toMatchObject({ whole: true, height: 150 })
    expect((await run('status', '--all')).code).toBe(0)
    expect((await run('keys', 'list', '--json')).out).toBe(before)
    await stop(serving)
  },
  120_000,
)
