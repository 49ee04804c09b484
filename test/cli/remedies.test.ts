import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseKeys } from '#transfer/keys.ts'
import { cliFolder, type Outcome } from '../support/processes/cli-process.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { ARCHIVED, replayed } from '../support/stores/loading.ts'
import { until } from '../support/wait.ts'
import { addKey, damage, loadedFolder, stop, storeIn } from './folder.ts'

/** A damaged store, mended with nothing but the commands that the program itself names. */

const HEIGHT = 400
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
  await using folder = await loadedFolder(HEIGHT)
  await using node = await replayed(HEIGHT)
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
  await loading.logs(`Loaded blocks. height=${HEIGHT}`)
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
  expect(await (await fetch(`${url}/ready`)).json()).toMatchObject({ ready: true, whole: true, height: HEIGHT })
}, 120_000)

test.skipIf(elasticsearchUrl() === undefined)(
  'a deleted index of Elasticsearch: the repair that the program names mends it, with all API keys',
  async () => {
    const { url, prefix, destroy } = openTestElastic()
    await using folder = await cliFolder()
    const store = { IOSTLENS_STORE: `${url}/${prefix}`, IOSTLENS_NODE: ARCHIVED }
    const run = (...args: readonly string[]): Promise<Outcome> => folder.run(args, store)
    try {
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
    } finally {
      await destroy()
    }
  },
  120_000,
)
