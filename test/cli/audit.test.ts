import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { until } from '#test/support/wait.ts'
import { type Fault, startFaultyNode } from '../support/nodes/faulty-node.ts'
import { forkedChain } from '../support/nodes/forked.ts'
import { json } from '../support/nodes/read-blocks.ts'
import { type CliFolder, cliFolder } from '../support/processes/cli-process.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { replayed } from '../support/stores/loading.ts'
import { addKey, expectEnd, loadedFolder, storeIn } from './folder.ts'

const HEIGHT = 150

function damage(folder: CliFolder, sql: string): void {
  const database = new Database(storeIn(folder))
  database.run(sql)
  database.close()
}

test('verify, repair: differences are named, shown by a dry run, repaired, and nothing is left behind', async () => {
  const node = await replayed(HEIGHT)
  await using folder = await loadedFolder(HEIGHT)
  await addKey(folder)
  const whole = await folder.run(['verify'])
  expect([whole.code, whole.out]).toEqual([
    0,
    expect.stringMatching(
      /^proved when loaded: blocks 0 to 150: signed\nsqlite:data\/iostlens\.sqlite at block 150, \S+: whole\n$/,
    ),
  ])

  damage(folder, "UPDATE lists SET count = count + 1 WHERE id = 'account/admin'")
  const found = await folder.run(['verify'])
  const finding = expect.stringMatching(/^lists account\/admin count: stored \d+ expected \d+\nlists count: 1 in all\n/)
  expect([found.code, found.out]).toEqual([3, finding])
  expect(found.out).toEndWith(": NOT WHOLE, 1 differences. Run: 'iostlens repair'\n")

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
  expect((await folder.run(['verify', '--node', node.url])).out).toEndWith(
    `2 differences. Run: 'iostlens repair --node ${node.url}'\n`,
  )
  expect((await folder.run(['repair', '--node', node.url])).code).toBe(0)
  damage(folder, "UPDATE meta SET value = json_set(value, '$.height', 151) WHERE key = 'published'")
  await expectEnd(folder, ['verify', '--node', node.url], 75, `run: 'iostlens repair --node ${node.url}'.\n`)
  expect((await folder.run(['repair', '--node', node.url])).code).toBe(0)
  expect((await folder.run(['verify', '--node', node.url])).code).toBe(0)
  expect((await folder.run(['keys', 'list'])).out).toContain('wallet')
  expect((await readdir(join(folder.path, 'data'))).filter(name => name.startsWith('audit-'))).toEqual([])

  await node.stop()
  expect((await folder.run(['verify', '--node', node.url, '--node-timeout', '200ms'])).code).toBe(75)
})

test('verify: does not touch the folder of a running migration', async () => {
  // This node never answers, so the migration waits for it with its folder open.
  using hung = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: () => new Promise(() => {}),
  })
  await using folder = await loadedFolder(60)
  damage(folder, `UPDATE meta SET value = json_set(value, '$.derivation', 1) WHERE key = 'identity'`)
  const folders = async () => (await readdir(join(folder.path, 'data'))).filter(name => name.startsWith('audit-'))
  const migration = await folder.start(['indices', 'migrate', '--node', String(hung.url)])
  await until(async () => (await folders()).length > 0)
  const [theirs] = await folders()
  expect((await folder.run(['verify'])).code).toBe(3)
  expect(await folders()).toEqual([theirs ?? ''])
  migration.kill('SIGKILL')
  await migration.ended
})

test("verify: names false values in the store's published record and identity", async () => {
  await using folder = await loadedFolder(HEIGHT)
  const set = (key: string, field: string, value: number): void =>
    damage(folder, `UPDATE meta SET value = json_set(value, '$.${field}', ${value}) WHERE key = '${key}'`)
  for (const [lib, named] of [
    [1e15, 1],
    [HEIGHT + 100, 0],
  ] as const) {
    set('published', 'lib', lib)
    const { code, out } = await folder.run(['verify'])
    expect([lib, code, out.match(/^published 150 lib: stored/gm)?.length ?? 0]).toEqual([
      lib,
      named === 0 ? 0 : 3,
      named,
    ])
  }
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
  const repaired = await folder.run(['repair', '--node', node.url])
  expect([repaired.code, repaired.out]).toEqual([
    0,
    expect.stringMatching(/ at block 749, \S+: the batches of blocks 750 to 759 were undone; no document was checked/),
  ])
  expect((await folder.run(load)).code).toBe(0)
  expect((await folder.run(['verify', '--node', node.url])).code).toBe(0)
  await node.stop()
})

test('verify: exits with 75 (retry later) if nothing is loaded', async () => {
  await using folder = await cliFolder()
  expect((await folder.run(['indices', 'create'])).code).toBe(0)
  const nothing = await folder.run(['verify'])
  expect([nothing.code, nothing.out, nothing.err]).toEqual([75, '', expect.stringContaining('nothing is loaded yet')])
})

/** The last height loaded at level `linked`, and the last one at level `signed`. */
const [LINKED, SIGNED] = [60, 120]

/** A node that returns no signatures of blocks below `signed`, and no raw blocks. */
const unsignedBelow =
  (signed: () => number): Fault =>
  async ({ path, body }, truth) => {
    if (path.startsWith('/getRawBlockByNumber/'))
      return new Response('{"code":12,"message":"Not Implemented"}', { status: 400 })
    if (path !== '/getBlockHeaderByRange') return undefined
    const { start } = JSON.parse(body) as { readonly start: number }
    let height = start - 1
    return json(
      (await truth()).replace(/"sign":\{[^}]*\}/g, sign => {
        height += 1
        return height < signed() ? '"sign":{"algorithm":0, "sig":"", "pubKey":""}' : sign
      }),
    )
  }

test('verify, repair: without --prove, each block is checked against the node at the level at which it was loaded', async () => {
  let signed = SIGNED + 1
  await using node = await startFaultyNode(
    unsignedBelow(() => signed),
    LINKED,
  )
  await using folder = await cliFolder()
  const load = (...args: readonly string[]) => folder.run(['load', '--once', '--node', node.url, ...args])
  const verify = (...args: readonly string[]) => folder.run(['verify', '--node', node.url, '--sample', '1000', ...args])

  expect((await load('--prove', 'linked')).code).toBe(0)

  // The next blocks are loaded with signatures, and must be verified with them.
  signed = LINKED + 1
  node.setHeight(SIGNED)
  expect((await load()).code).toBe(0)
  const both = await verify()
  expect([both.code, both.out]).toEqual([
    0,
    expect.stringContaining(`blocks 0 to ${LINKED}: linked\nproved when loaded: blocks 61 to 120: signed\n`),
  ])

  damage(folder, 'DELETE FROM blocks WHERE height IN (30, 90)')
  await expectEnd(folder, ['repair', '--node', node.url], 0, '0 are left')

  // A missing proof is reported as a fault of the node. No stored block is reported as damaged.
  signed = SIGNED + 1
  for (const failed of [await verify(), await verify('--prove', 'signed')]) {
    expect([failed.code, failed.out]).toEqual([3, ''])
    expect(failed.err).toContain('no signature')
    expect(failed.err).toContain('Use a node that returns signatures.')
  }
  expect((await verify('--prove', 'linked')).code).toBe(0)
})
