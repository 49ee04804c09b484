import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { KEY_PATTERN } from '#keys/key.ts'
import { cliFolder, PATH } from '../support/processes/cli-process.ts'
import { ROOT } from '../support/root.ts'
import { replayed } from '../support/stores/loading.ts'

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''

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
  const child = Bun.spawn(['bash', '-c', pipe], {
    cwd: folder.path,
    env: { PATH },
  })
  expect([await new Response(child.stdout).text(), await child.exited]).toEqual(['{\n', 0])
})

test('keys: a key is created, listed, accepted by a running service, and revoked', async () => {
  await using folder = await cliFolder()
  const added = await folder.run(['keys', 'add', 'my wallet', '--per-second', '100000', '--expires=1d'])
  const key = lastLine(added.out)
  expect([added.code, KEY_PATTERN.test(key), added.err]).toEqual([0, true, ''])

  const listed = await folder.run(['keys', 'list'])
  expect(listed.out).not.toContain(key)
  const [head, row] = listed.out.trimEnd().split('\n')
  const id = row?.split(' ')[0] ?? ''
  expect(head).toMatch(/^ID +PER SECOND +PER DAY +CREATED +EXPIRES +STATE +NAME$/)
  expect(row).toMatch(/^[0-9a-f]{10} +100000 +200000 +\S+ +\S+ +valid +my wallet$/)
  expect(added.out).toContain(id)

  const service = folder.start(['serve', '--listen', '127.0.0.1:0'])
  const url = await service.firstLine
  const ask = async () => (await fetch(`${url}/api/?module=base&action=get-overview&apikey=${key}`)).status
  // The key is accepted, but nothing is loaded.
  expect(await ask()).toBe(503)

  expect(await folder.run(['keys', 'revoke', id])).toEqual({ code: 0, out: `Revoked key ${id}.\n`, err: '' })
  // A running service reads the list of keys once a second.
  let status = await ask()
  while (status === 503) status = await ask()
  expect(status).toBe(403)
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
  expect((await folder.run(['keys', 'list'])).out).toContain(' revoked ')
})

test('keys: an unknown id and an invalid plan are usage errors', async () => {
  await using folder = await cliFolder()
  expect(await folder.run(['keys', 'add', ' '])).toMatchObject({ code: 2, out: '' })
  expect(await folder.run(['keys', 'add', 'x', '--per-second', '0'])).toMatchObject({ code: 2, out: '' })
  expect((await folder.run(['indices', 'create'])).code).toBe(0)
  expect(await folder.run(['keys', 'revoke', 'nobody'])).toEqual({
    code: 2,
    out: '',
    err: "iostlens: There is no key with the id 'nobody'.\n  'iostlens keys list' prints the ids.\n",
  })
})

test('keys: adding a key creates a missing store, and reports that', async () => {
  await using folder = await cliFolder()
  const created = 'Created the store sqlite:data/iostlens.sqlite: it did not exist.\n'
  const [first, second] = [await folder.run(['keys', 'add', 'x']), await folder.run(['keys', 'add', 'y'])]
  expect([first.code, first.out.startsWith(created), second.code]).toEqual([0, true, 0])
  expect(second.out).not.toContain('Created')
  expect(KEY_PATTERN.test(lastLine(first.out))).toBe(true)
})

test.each(['keys list', 'keys revoke x', 'indices merge'])(
  'a missing store: %s refuses, names the store and creates none',
  async command => {
    await using folder = await cliFolder()
    const { code, out, err } = await folder.run([...command.split(' '), '--store', 'sqlite:typo.sqlite'])
    expect([code, out, existsSync(join(folder.path, 'typo.sqlite'))]).toEqual([2, '', false])
    expect(err).toStartWith('iostlens: The store sqlite:typo.sqlite does not exist.\n  Set the store that is loaded')
  },
)

test('indices: check names missing indices, create adds them, another mapping stops every command', async () => {
  await using folder = await cliFolder()
  const store = join(folder.path, 'data', 'iostlens.sqlite')
  const missing = await folder.run(['indices', 'check'])
  expect([missing.code, missing.out.includes('blocks: missing: ')]).toEqual([3, true])
  expect((await folder.run(['indices', 'create'])).code).toBe(0)
  expect((await folder.run(['indices', 'create'])).code).toBe(0)
  expect((await folder.run(['indices', 'check'])).code).toBe(0)

  const database = new Database(store)
  database.run('ALTER TABLE "tokens" ADD COLUMN "colour" TEXT')
  database.close()
  const different = await folder.run(['indices', 'check'])
  expect(different.code).toBe(3)
  expect(different.out).toMatch(/^tokens: different: .*colour/m)

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
  for (const command of commands) {
    const { code, out, err } = await folder.run(command)
    expect([command, code, out, err.includes('tokens'), err.includes('iostlens indices check')]).toEqual([
      command,
      3,
      '',
      true,
      true,
    ])
  }
})

test('indices: the embedded store has nothing to merge', async () => {
  await using folder = await cliFolder()
  expect((await folder.run(['indices', 'create'])).code).toBe(0)
  const { code, out } = await folder.run(['indices', 'merge'])
  expect([code, out.endsWith('iostlens.sqlite keeps its history in one piece; there is nothing to merge.\n')]).toEqual([
    0,
    true,
  ])
})

test('load: two runs continue each other, and status reports the progress', async () => {
  await using folder = await cliFolder()
  expect(await folder.run(['status'])).toMatchObject({ code: 2, err: expect.stringContaining('does not exist') })
  expect((await folder.run(['indices', 'create'])).code).toBe(0)
  expect(await folder.run(['status'])).toMatchObject({ code: 75, err: '' })
  await using node = await replayed(200)
  const { url } = node

  const first = await folder.run(['load', '--node', url, '--to', '120'])
  expect([first.code, first.out]).toEqual([0, 'Loaded up to block 120.\n'])
  const between = await folder.run(['status', '--node', url])
  expect(between.code).toBe(0)
  expect(between.out).toMatch(/^height +120, /m)
  expect(between.out).toMatch(/^behind +80 blocks; the last irreversible block is 200$/m)

  const second = await folder.run(['load', '--once', '--log-format', 'json'], { IOSTLENS_NODE: url })
  expect([second.code, second.out]).toEqual([0, 'Loaded up to block 200.\n'])
  for (const line of second.err.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('message')
  const after = await folder.run(['status', '--all', '--node', url])
  expect(after.out).toMatch(/^checked +201 of 201 blocks, 1 transactions$/m)
  expect([after.code, /^whole +yes$/m.test(after.out)]).toEqual([0, true])
  expect(after.out).toMatch(/^proved +blocks 0 to 200: signed$/m)
  const told = await folder.run(['status', '--json'])
  expect([told.code, JSON.parse(told.out)]).toMatchObject([
    0,
    {
      height: 200,
      behind: 0,
      whole: true,
      proved: { ranges: [{ from: 0, to: 200, level: 'signed', agreed: false }], lost_receipts: 0 },
    },
  ])

  // Status detects a missing block.
  const database = new Database(join(folder.path, 'data', 'iostlens.sqlite'))
  database.run('DELETE FROM "blocks" WHERE "height" = 77')
  database.close()
  const hole = await folder.run(['status'])
  expect([hole.code, hole.out.includes('block 77 is missing'), /^whole +NO$/m.test(hole.out)]).toEqual([3, true, true])
})

test('up: loads, serves, prints example calls, and continues after a restart', async () => {
  await using folder = await cliFolder()
  await using node = await replayed(150)
  const args = ['up', '--node', node.url, '--listen', '127.0.0.1:0', '--test-key', 'try-it']
  for (const round of [1, 2]) {
    const service = folder.start(args)
    const url = await service.firstLine
    await service.says('/docs/en\n')
    service.kill('SIGINT')
    const { code, out, err } = await service.ended
    expect([round, code]).toEqual([round, 0])
    expect(out).toContain('Loaded up to block 150, the last irreversible block.')
    expect(out).toContain('Shared test key: try-it\n')
    expect(out).toContain(`  ${url}/api/?module=base&action=get-overview&apikey=try-it\n`)
    expect(err).not.toContain('try-it')
  }
})

test('up: the printed examples work', async () => {
  await using folder = await cliFolder()
  await using node = await replayed(150)
  const args = ['up', '--node', node.url, '--listen', '127.0.0.1:0', '--test-key', 'try-it']
  const service = folder.start(args)
  await service.says('/docs/en\n')
  const url = await service.firstLine
  const examples = urlsOf(service.said())
  expect([examples.length, examples.every(example => example.startsWith(url))]).toEqual([7, true])
  // The shared key has too low a limit for all examples at once.
  const key = lastLine((await folder.run(['keys', 'add', 'x'])).out)
  const calls = [examples[0] ?? '', ...examples.map(example => example.replace('try-it', key))]
  for (const call of calls) expect([call, (await fetch(call)).status]).toEqual([call, 200])
})

const urlsOf = (text: string): readonly string[] => text.match(/(?<=^ {2})http\S+/gm) ?? []
