import { afterAll, expect, test } from 'bun:test'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CliFolder, cliFolder, type Outcome, spawnIn } from '../support/processes/cli-process.ts'
import { PROGRAM } from '../support/processes/program.ts'
import { ROOT } from '../support/root.ts'
import { ask } from '../support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic } from '../support/stores/elasticsearch.ts'
import { ARCHIVED } from '../support/stores/loading.ts'
import { testFolder } from '../support/test-folder.ts'
import { until } from '../support/wait.ts'
import { expectEnd, readLastLine, stop } from './folder.ts'

const folder = testFolder()

/** A certificate of its own authority; `name` is an alternative name in it, such as IP:127.0.0.1. */
function makeCertificate(name: string) {
  const path = join(folder, name.replace(/\W/g, '-'))
  const { exitCode, stderr } = Bun.spawnSync([
    ...['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=iostlens-test'],
    ...['-addext', `subjectAltName=${name}`, '-keyout', `${path}.key`, '-out', `${path}.pem`],
  ])
  if (exitCode !== 0) throw new Error(`openssl: ${stderr}`)
  return { path: `${path}.pem`, cert: readFileSync(`${path}.pem`, 'utf8'), key: readFileSync(`${path}.key`, 'utf8') }
}
const own = makeCertificate('IP:127.0.0.1')
const foreign = makeCertificate('DNS:elsewhere.example')

/** Servers that no client reaches: each attempt ends in the handshake. */
const listen = (tls?: { readonly cert: string; readonly key: string }) =>
  Bun.serve({ port: 0, hostname: '127.0.0.1', ...(tls === undefined ? {} : { tls }), fetch: () => new Response('') })
const servers = { own: listen(own), foreign: listen(foreign), plain: listen() }
afterAll(async () => {
  for (const server of Object.values(servers)) await server.stop(true)
})
const urlOf = (server: keyof typeof servers): string => `https://127.0.0.1:${servers[server].port}`
const LIST = ['keys', 'list', '--store']
const ONCE = ['load', '--once', '--wait', '100ms', '--node']
const AWAY = 'http://127.0.0.1:1'
const TLS_HELP = /cannot be reached by TLS: .+\n {2}Set --store-ca to the PEM file/

test.each([
  ['a certificate of an unknown authority', [...LIST, `${urlOf('own')}/x`], 2, TLS_HELP],
  ['a certificate of another authority', [...LIST, `${urlOf('own')}/x`, '--store-ca', foreign.path], 2, TLS_HELP],
  ['a certificate of another host', [...LIST, `${urlOf('foreign')}/x`, '--store-ca', foreign.path], 2, TLS_HELP],
  ['https to a server without TLS', [...LIST, `${urlOf('plain')}/x`], 2, TLS_HELP],
  ['a folder as store', [...LIST, `sqlite:${folder}`], 2, /is not a file\.\n {2}Set --store to a file\./],
  ['a store below a file', [...LIST, `sqlite:${own.path}/x.sqlite`], 2, /ENOTDIR|EEXIST/],
  ['a store that is away', [...LIST, `${AWAY}/x`], 75, /cannot be reached/],
  ['an unknown host of a store', [...LIST, 'http://nosuch.invalid:9200/iostlens'], 75, /cannot be reached/],
  ['load: a store with wrong TLS', [...ONCE, AWAY, '--store', `${urlOf('own')}/x`], 2, TLS_HELP],
  ['load: a store that is away', [...ONCE, AWAY, '--store', `${AWAY}/x`], 75, /cannot be reached/],
  ['load: a host that does not exist', [...ONCE, 'http://nosuch.invalid:1'], 75, /host name in --node is unknown/],
  ['load: a text that is no URL', [...ONCE, 'nosuch:30001'], 2, /--node is 'nosuch:30001'/],
  ['load: a node that is away', [...ONCE, AWAY], 75, /ECONNREFUSED/],
])('exit code: %s', async (_name, args, code, says) => {
  await using cli = await cliFolder()
  await expectEnd(cli, args, code, says)
})

test('exit code: a node whose TLS is wrong', async () => {
  await using cli = await cliFolder()
  const refused = /no connection by TLS \([A-Z_]+\)\.\n {2}Set NODE_EXTRA_CA_CERTS/
  const run = (server: keyof typeof servers, ...command: readonly string[]) =>
    expectEnd(cli, [...command, '--node', urlOf(server)], 2, refused)
  // All at once, since each waits longer than it works.
  await Promise.all([
    run('own', 'load', '--once', '--store', 'sqlite:own.sqlite'),
    run('foreign', 'load', '--once', '--store', 'sqlite:foreign.sqlite'),
    run('plain', 'archive', 'write', 'plain', '--prove', 'linked'),
  ])
})

test('exit code: a node whose authority NODE_EXTRA_CA_CERTS names is asked', async () => {
  await using cli = await cliFolder()
  const node = urlOf('own')
  const { err } = await cli.run(['archive', 'write', 'x', '--node', node], { NODE_EXTRA_CA_CERTS: own.path })
  expect(err).toContain(`${node}: getChainInfo`)
})

test('exit code: a file that the operator named and the system refuses is no bug of the program', async () => {
  await using cli = await cliFolder()
  mkdirSync(join(cli.path, 'folder.sqlite'))
  for (const args of [
    ['restore', 'folder.sqlite', '--node', AWAY],
    ['archive', 'check', own.path],
    ['archive', 'write', own.path, '--node', 'archive:/nowhere'],
    ['status', '--labels', 'folder.sqlite'],
    ['serve', '--labels', 'folder.sqlite', '--listen', '127.0.0.1:0'],
    ['keys', 'list', '--store-password-file', 'folder.sqlite'],
  ]) {
    const { code, err } = await cli.run(args)
    expect([args, code, err]).toEqual([args, 2, expect.not.stringContaining('bug')])
  }
})

/** A mistyped store is not an empty one: what only reads says so and creates nothing. */

const READERS = [
  ['status'],
  ['verify'],
  ['repair'],
  ['repair', '--dry-run'],
  ['backup', 'copy'],
  ['copy', '--to', 'sqlite:copy.sqlite'],
  ['archive', 'write', 'archive', '--node', ARCHIVED],
  ['keys', 'list'],
  ['keys', 'revoke', 'x'],
  ['keys', 'export', 'keys.ndjson'],
  ['indices', 'merge'],
] as readonly (readonly string[])[]

async function expectAbsent(folder: CliFolder, store: string, readers: typeof READERS): Promise<void> {
  for (const args of readers) await expectEnd(folder, [...args, '--store', store], 2, 'does not exist')
  const serving = folder.start(['serve', '--store', store, '--listen', '127.0.0.1:0', '--test-key', 'public'])
  const url = await serving.firstLine
  await until(async () => (await (await fetch(`${url}/ready`)).text()).includes('The store does not exist'))
  expect((await fetch(`${url}/ready`)).status).toBe(503)
  // Requests are counted for a day, which is what a service would store.
  for (let count = 0; count < 3; count++) await (await fetch(`${url}/api/base/get-overview?apikey=public`)).text()
  await serving.logs('does not exist')
  await stop(serving)
}

test('a wrong path: status, serve and others say that there is no store, and create no file', async () => {
  await using folder = await cliFolder()
  mkdirSync(join(folder.path, 'there'))
  await expectAbsent(folder, `sqlite:${join(folder.path, 'nowhere/at/all/chain.sqlite')}`, READERS)
  await expectAbsent(folder, `sqlite:${join(folder.path, 'there/chain.sqlite')}`, READERS.slice(0, 1))
  expect(readdirSync(folder.path, { recursive: true })).toEqual(['there'])
})

test.skipIf(elasticsearchUrl() === undefined)(
  'a wrong prefix: there is no store, and no index is created',
  async () => {
    await using elastic = openTestElastic()
    const { url, prefix } = elastic
    await using folder = await cliFolder()
    await expectAbsent(folder, `${url}/${prefix}`, READERS.slice(0, 4))
    expect(await ask<object>('GET', `${url}/${prefix}*`)).toEqual({})
  },
)

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
