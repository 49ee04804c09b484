import { expect, test } from 'bun:test'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cliFolder, type Outcome, spawnIn } from '../support/processes/cli-process.ts'
import { PROGRAM } from '../support/processes/program.ts'
import { ROOT } from '../support/root.ts'
import { ARCHIVED } from '../support/stores/loading.ts'
import { readLastLine, stop } from './folder.ts'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
/** The program with a mask that withholds no right. */
const OPEN = ['sh', '-c', 'umask 0; exec "$@"', 'sh', ...PROGRAM]

/** Paths below a folder with their kind, rights and owner; of the owner only whether it is the folder's. */
function rightsBelow(folder: string): readonly string[] {
  const { uid, gid } = lstatSync(folder)
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(path => ({ path, found: lstatSync(join(folder, path)) }))
    .filter(({ found }) => !found.isSocket())
    .map(({ path, found }) => {
      const owner = found.uid === uid && found.gid === gid ? 'of the folder’s owner' : `of ${found.uid}:${found.gid}`
      return `${path} ${(found.mode & 0o777).toString(8)} ${owner}${found.isDirectory() ? '/' : ''}`
    })
}
const isPrivate = (line: string): boolean => / (?:700 of the folder’s owner\/|600 of the folder’s owner)$/.test(line)

test('files: whatever a command creates is private and belongs to the owner of its folder', async () => {
  await using folder = await cliFolder(OPEN)
  // The folder of a service: as root the commands leave everything to its user.
  const service = join(folder.path, 'service')
  mkdirSync(service, 0o700)
  if (isRoot) chownSync(service, NOBODY, NOBODY)
  const data = { IOSTLENS_DATA: join(service, 'a/b') }
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await folder.run(args, data)
    expect([args, code, err.includes('iostlens:') ? err : '']).toEqual([args, 0, ''])
    return out
  }
  const key = readLastLine(await run('keys', 'add', 'wallet'))
  await run('load', '--once', '--to', '60', '--prove', 'linked', '--node', ARCHIVED)
  await run('backup', join(service, 'copy.sqlite'))
  await run('copy', '--to', `sqlite:${join(service, 'c/second.sqlite')}`)
  await run('verify')
  await run('restore', join(service, 'copy.sqlite'), '--node', ARCHIVED, '--store', `sqlite:${service}/again.sqlite`)
  const server = folder.start(['serve', '--listen', '127.0.0.1:0'], data)
  const url = await server.firstLine
  expect((await fetch(`${url}/api/base/get-overview?apikey=${key}`)).status).toBe(200)
  await stop(server)
  const lines = rightsBelow(service)
  expect(lines.filter(line => !isPrivate(line))).toEqual([])
  const names = lines.map(line => line.split(' ')[0])
  for (const name of ['a/b/iostlens.sqlite', 'a/b/usage.sqlite', 'copy.sqlite', 'c/second.sqlite', 'again.sqlite'])
    expect(names).toContain(name)
})

/** Runs a command as a user without rights to files of this one; the program is loaded before the rights are dropped. */
async function runAsNobody(cwd: string, args: readonly string[]): Promise<Outcome> {
  const program = `
    import { run } from ${JSON.stringify(join(ROOT, 'src/cli/run.ts'))}
    import { createScreen } from ${JSON.stringify(join(ROOT, 'src/cli/stderr.ts'))}
    if (process.getuid() === 0) {
      process.setgroups([])
      process.setgid(${NOBODY})
      process.setuid(${NOBODY})
    }
    const program = new URL('file:///nowhere')
    process.exitCode = await run(${JSON.stringify(args)}, {
      version: '0', environment: {}, out: line => console.log(line), droppedLines: () => 0,
      screen: createScreen({ write: text => process.stderr.write(text), isTerminal: false, columns: () => 80 }),
      stop: () => new AbortController().signal,
      provingProgram: program, writingProgram: program,
    })`
  return await spawnIn(ROOT, [process.execPath, '-e', program], { HOME: tmpdir(), TMPDIR: cwd }).ended
}

test('files: a file or folder that this user may not use is refused with its owner and this user', async () => {
  await using folder = await cliFolder()
  chmodSync(folder.path, 0o755)
  const path = join(folder.path, 'store.sqlite')
  const store = `sqlite:${path}`
  expect((await folder.run(['keys', 'add', 'wallet', '--store', store])).code).toBe(0)
  // As root the program drops its rights; any other user locks itself out.
  if (!isRoot) for (const end of ['', '-wal', '-shm']) chmodSync(`${path}${end}`, 0)
  if (!isRoot) chmodSync(folder.path, 0o555)
  const says = isRoot
    ? /belongs to root \(mode \d+\), and this process runs as nobody: run chown nobody /
    : /belongs to this user, \S+, but its mode is \d+: run chmod u\+rwx? /
  const add = ['keys', 'add', 'other', '--store']
  for (const args of [
    ['keys', 'list', '--store', store],
    [...add, store],
    ['load', '--once', '--node', ARCHIVED, '--store', store],
    [...add, `sqlite:${folder.path}/new.sqlite`],
    [...add, `sqlite:${folder.path}/deep/er/new.sqlite`],
  ]) {
    const { code, err } = await runAsNobody(folder.path, args)
    expect([args, code, err]).toEqual([args, 2, expect.stringMatching(says)])
  }
  chmodSync(folder.path, 0o755)
}, 60_000)
