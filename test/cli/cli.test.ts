import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { cliFolder, PATH } from '../support/processes/cli-process.ts'
import { ROOT } from '../support/root.ts'
import { replayed } from '../support/stores/loading.ts'
import { addKey, damage, expectEnd, stop } from './folder.ts'

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
